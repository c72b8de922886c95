package trajectory

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Hidden is what a record holds in place of a secret.
const Hidden = "<secret-hidden>"

// MinSecret is the length in bytes from which a value is masked. Shorter ones
// are ordinary words ("ollama", "none") that stand in for a key with servers
// that want none; masking them would garble the text and hide nothing.
const MinSecret = 8

// A Masker hides known secret values. The zero value hides nothing. Safe for
// concurrent use.
type Masker struct {
	replacer *strings.Replacer
	forms    []string // what is hidden, the longest first
}

// NewMasker returns a Masker of the values. Each is also found as it looks
// inside JSON, a quoted Go string and a URL. Values shorter than MinSecret are
// left out. A value that is split over two events is not found.
func NewMasker(values ...string) *Masker {
	var forms []string
	for _, value := range values {
		if len(value) < MinSecret {
			continue
		}
		forms = append(forms, value, url.QueryEscape(value), url.PathEscape(value), unquote(strconv.Quote(value)))
		if plain, err := encode(value); err == nil {
			forms = append(forms, unquote(string(plain)))
			forms = append(forms, htmlSafe(unquote(string(plain))))
		}
	}
	if len(forms) == 0 {
		return &Masker{}
	}
	// The longest form first: a value may be the beginning of another, and
	// the rest of the longer one must not stay.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, Hidden)
	}
	return &Masker{replacer: strings.NewReplacer(pairs...), forms: forms}
}

// Mask returns the text with every secret hidden.
func (m *Masker) Mask(text string) string {
	if m.replacer == nil {
		return text
	}
	return m.replacer.Replace(text)
}

// Wrap returns a Recorder that hides secrets in every string of an event and
// hands the event on.
func (m *Masker) Wrap(next Recorder) Recorder { return masked{masker: m, next: next} }

type masked struct {
	masker *Masker
	next   Recorder
}

var _ Recorder = masked{}

func (r masked) Record(body Body) error {
	return r.next.Record(r.masker.Hide(body))
}

// Hide returns the body with every secret in its strings hidden.
func (m *Masker) Hide(body Body) Body {
	if m.replacer == nil {
		return body
	}
	return m.copyOf(reflect.ValueOf(body)).Interface().(Body)
}

// copyOf returns a deep copy with every string masked. It goes by reflection
// so that no field of a later event type can be forgotten.
func (m *Masker) copyOf(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(m.Mask(v.String()))
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(m.copyOf(v.Field(i)))
			}
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			out.Set(v) // bytes are an image's; there is no text in them
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(m.copyOf(v.Index(i)))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(m.copyOf(v.Elem()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(m.copyOf(v.Elem()))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(m.copyOf(key), m.copyOf(value))
		}
	default:
		out.Set(v)
	}
	return out
}

// unquote drops the quotes around a quoted string.
func unquote(quoted string) string { return quoted[1 : len(quoted)-1] }

// htmlSafe writes a JSON text as encoders do that escape for HTML.
func htmlSafe(text string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(text)
}
