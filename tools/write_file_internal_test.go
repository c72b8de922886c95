package tools

import "testing"

// A file that is rewritten keeps its encoding, also where its reader is shown
// the text alone.
func TestLikeBeforeUTF16(t *testing.T) {
	text, kept, err := decodeText([]byte("\xff\xfea\x00\r\x00\n\x00"))
	if err != nil || text != "\ufeffa\r\n" {
		t.Fatalf("decodeText = %q, %v", text, err)
	}
	data, form, err := likeBefore(text, kept, "é\n")
	if want := "\xff\xfe\xe9\x00\r\x00\n\x00"; err != nil || string(data) != want || len(form) != 3 {
		t.Errorf("likeBefore = %q, %q, %v, want %q", data, form, err, want)
	}
	if _, _, err := likeBefore(text, kept, "\xe9"); err == nil {
		t.Error("bytes that are no characters were taken")
	}
}
