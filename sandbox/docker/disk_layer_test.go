package docker

import "testing"

func TestUpperOfRoot(t *testing.T) {
	const (
		overlay = "500 400 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/d/1/fs:/d/2/fs,upperdir=/d/3/fs,workdir=/d/3/work\n"
		below   = "501 500 0:51 / /below rw - overlay overlay rw,lowerdir=/e/1,upperdir=/e/2,workdir=/e/3\n"
	)
	for _, test := range []struct{ name, mountinfo, want string }{
		{"an overlay", overlay + below, "/d/3/fs"},
		{"one with tags", "500 400 0:50 / / rw master:1 shared:2 - overlay overlay rw,upperdir=/d/3/fs\n", "/d/3/fs"},
		{"another file system", "500 400 254:0 / / rw - ext4 /dev/vda rw\n" + below, ""},
		{"covered", overlay + "502 500 0:52 / / rw - tmpfs tmpfs rw\n", ""},
		{"read-only", "500 400 0:50 / / ro - overlay overlay ro,lowerdir=/d/1/fs:/d/2/fs\n", ""},
		{"a relative folder", "500 400 0:50 / / rw - overlay overlay rw,upperdir=3/fs\n", ""},
		{"cut off", "500 400 0:50 / / rw - overlay\n", ""},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := upperOfRoot(test.mountinfo); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
