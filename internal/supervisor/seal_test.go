package supervisor

import (
	"bytes"
	"testing"
)

func TestSealTellsForgedBodies(t *testing.T) {
	key, body := []byte("the key"), []byte(`{"Code":7}`)
	sealed := Seal(key, bytes.Clone(body))
	if bytes.IndexByte(sealed, TrailerEnd) >= 0 || len(sealed) != len(body)+sealLen {
		t.Errorf("%q cannot be in a trailer", sealed)
	}
	for _, test := range []struct {
		name   string
		key    []byte
		sealed []byte
		want   []byte // nil: refused
	}{
		{"as it was made", key, sealed, body},
		{"another key", []byte("another"), sealed, nil},
		{"no key", nil, sealed, nil},
		{"another body", key, append([]byte(`{"Code":8}`), sealed[len(body):]...), nil},
		{"a seal alone", key, sealed[len(body):], nil},
		{"a cut seal", key, sealed[:len(sealed)-1], nil},
		{"nothing", key, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Unseal(test.key, test.sealed)
			if ok != (test.want != nil) || !bytes.Equal(got, test.want) {
				t.Errorf("%q, %v, want %q", got, ok, test.want)
			}
		})
	}
}
