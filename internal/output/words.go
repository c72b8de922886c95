package output

import (
	"strconv"
	"strings"
)

// Size is a number of bytes in words, such as "12 bytes", "1.2 MiB", "2 GiB".
func Size(n int64) string {
	if n < 1024 {
		return Count(n, "byte")
	}
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value := float64(n)
	unit := -1
	// 1023.95 is where one decimal would show as 1024.0 of the smaller unit.
	for value >= 1023.95 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + " " + units[max(unit, 0)]
}

// Count is a number with its noun, such as "1 line", "12,345 lines".
func Count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return group(n) + " " + noun
}

// group puts commas between the thousands.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
