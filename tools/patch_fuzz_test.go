package tools

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a patch says, it is an answer or changes only what it names.
func FuzzPatch(f *testing.F) {
	const begin, end = "*** Begin Patch\n*** Update File: x\n", "*** End Patch\n"
	for _, seed := range [][2]string{
		{"a\nb\nc\n", begin + "@@\n a\n-b\n+B\n c\n" + end},
		{"a\r\nb", begin + " a\n-b\n+c\n" + end},
		{"f:\n  x\ng:\n  x\n", begin + "@@ g:\n-  x\n+  y\n*** End of File\n" + end},
		{"\tif a {\n\t\tb()\n\t}\n", begin + " if a {\n-    b()\n+    c()\n+        d()\n }\n" + end},
		{"", begin + "+x\n" + end},
		{"a \n\n“b”\n", begin + " a\n\n-\"b\"\n" + end},
		{"", "apply_patch <<EOF\n*** Begin Patch\n*** Add File: y\n+a\n\n*** Delete File: z\n*** Update File: a\n*** Move to: b\n" + end},
	} {
		f.Add(seed[0], seed[1], true)
		f.Add(seed[0], seed[1], false)
	}
	f.Fuzz(func(t *testing.T, content, text string, tolerant bool) {
		if !utf8.ValidString(text) {
			return
		}
		files, err := parsePatch(text)
		var told answer
		if err != nil {
			if !errors.As(err, &told) || !utf8.ValidString(err.Error()) {
				t.Errorf("error %q", err)
			}
			return
		}
		for _, file := range joined(files) {
			if file.path == "" {
				t.Errorf("%q names no file", text)
			}
			if len(file.chunks) == 0 {
				continue
			}
			done, err := applyChunks(t.Context(), content, file.chunks, tolerant)
			if errors.As(err, &told) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			checkEdited(t, content, done)
			if strings.HasSuffix(content, "\n") && done.content != "" && !strings.HasSuffix(done.content, "\n") {
				t.Errorf("%q lost its last newline: %q", content, done.content)
			}
		}
	})
}
