package sandbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
)

func TestWithProfile(t *testing.T) {
	for _, test := range []struct {
		name       string
		spec, want sandbox.Spec
	}{
		{"default", sandbox.Spec{}, sandbox.Spec{Profile: "strict", User: "owner", RootFS: "read-only", Network: "none"}},
		{"dev", sandbox.Spec{Profile: "dev"}, sandbox.Spec{Profile: "dev", User: "root", RootFS: "writable", Network: "none"}},
		{"overruled", sandbox.Spec{Profile: "dev", User: "owner", RootFS: "read-only", Network: "bridge"},
			sandbox.Spec{Profile: "dev", User: "owner", RootFS: "read-only", Network: "bridge"}},
		{"one overruled", sandbox.Spec{User: "root"}, sandbox.Spec{Profile: "strict", User: "root", RootFS: "read-only", Network: "none"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.spec.WithProfile()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, err := got.WithProfile()
			if diff := cmp.Diff(got, again); diff != "" || err != nil {
				t.Errorf("a second time, error %v (-first +second):\n%s", err, diff)
			}
		})
	}
	for name, spec := range map[string]sandbox.Spec{
		"lax": {Profile: "lax"}, "nobody": {User: "nobody"}, "rw": {RootFS: "rw"},
	} {
		if _, err := spec.WithProfile(); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%s: error = %v, want one that names it", name, err)
		}
	}
}

func TestFillLimits(t *testing.T) {
	const mib = sandbox.MiB
	type sizes struct{ Tmp, Home, Shm, Disk int64 }
	for _, test := range []struct {
		name string
		spec sandbox.Spec
		want sizes
	}{
		{"strict", sandbox.Spec{}, sizes{512 * mib, 384 * mib, 64 * mib, sandbox.DefaultDisk}},
		{"dev", sandbox.Spec{Profile: "dev"}, sizes{0, 0, 64 * mib, sandbox.DefaultDisk}},
		{"dev with a tmp in memory", sandbox.Spec{Profile: "dev", Limits: sandbox.Limits{Tmp: mib}}, sizes{mib, 0, 64 * mib, sandbox.DefaultDisk}},
		{"dev with little memory", sandbox.Spec{Profile: "dev", Limits: sandbox.Limits{Memory: 64 * mib}}, sizes{0, 0, 32 * mib, sandbox.DefaultDisk}},
		{"dev as owner", sandbox.Spec{Profile: "dev", User: "owner"}, sizes{512 * mib, 384 * mib, 64 * mib, sandbox.DefaultDisk}},
		{"dev on a read-only system", sandbox.Spec{Profile: "dev", RootFS: "read-only"}, sizes{512 * mib, 384 * mib, 64 * mib, sandbox.DefaultDisk}},
		{"no disk limit", sandbox.Spec{Limits: sandbox.Limits{Disk: sandbox.NoLimit}}, sizes{512 * mib, 384 * mib, 64 * mib, sandbox.NoLimit}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec, err := test.spec.WithProfile()
			if err != nil {
				t.Fatal(err)
			}
			l := spec.FillLimits(8*sandbox.GiB, 4)
			if diff := cmp.Diff(test.want, sizes{l.Tmp, l.Home, l.Shm, l.Disk}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
