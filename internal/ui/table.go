package ui

import (
	"io"
	"strings"
)

// Table writes rows in columns that are as wide as their widest cell, two
// spaces apart. The first row is the heading. Cells are made one line each;
// where width is above 0 each row is clipped to it, so the last column should
// be the one that may be cut.
func Table(w io.Writer, width int, rows [][]string) error {
	var columns []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], widths().StringWidth(Line(cell)))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(pad(Line(cell), columns[i]+2))
		}
		text.WriteString(Clip(strings.TrimRight(line.String(), " "), width) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
