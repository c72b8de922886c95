package sandbox_test

import (
	"testing"

	"github.com/belljar/belljar/sandbox"
)

func TestReadingInForce(t *testing.T) {
	for _, test := range []struct {
		name    string
		reading sandbox.Reading
		want    bool
		text    string
	}{
		{"as asked", sandbox.Reading{Limit: "pids", Asked: 512, Found: 512, Source: sandbox.FromInside}, true, "pids (512 asked for, 512 in force)"},
		{"other", sandbox.Reading{Limit: "pids", Asked: 512, Found: 513, Source: sandbox.FromHost}, false, "pids (512 asked for, 513 in force)"},
		{"none", sandbox.Reading{Limit: "memory", Asked: 1 << 30, Found: sandbox.NoLimit, Source: sandbox.FromEngine}, false, "memory (1024 MiB asked for, no limit in force)"},
		{"unread", sandbox.Reading{Limit: "cpus", Asked: 1.5}, false, "cpus (1.5 asked for, what holds cannot be read)"},
		{"a size in whole pages", sandbox.Reading{Limit: "tmp", Asked: 1<<20 + 1, Found: 1<<20 + 4096, Source: sandbox.FromInside}, true, ""},
		{"swap", sandbox.Reading{Limit: "swap", Asked: 0, Found: 1 << 20, Source: sandbox.FromInside}, false, "swap (0 MiB asked for, 1 MiB in force)"},
		{"swap without a limit", sandbox.Reading{Limit: "swap", Asked: 0, Found: sandbox.NoLimit, Source: sandbox.FromInside}, false, ""},
		{"a rounded share", sandbox.Reading{Limit: "cpus", Asked: 1.0 / 3, Found: 0.333, Source: sandbox.FromInside}, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.reading.InForce(); got != test.want {
				t.Errorf("InForce() = %v, want %v", got, test.want)
			}
			if got := test.reading.String(); test.text != "" && got != test.text {
				t.Errorf("String() = %q, want %q", got, test.text)
			}
			missing := sandbox.Missing([]sandbox.Reading{test.reading})
			if (len(missing) == 0) != test.want {
				t.Errorf("Missing() = %v", missing)
			}
		})
	}
}

func TestCountCPUs(t *testing.T) {
	for set, want := range map[string]int{"0": 1, "0,2": 2, "0-3": 4, "0-2,2,5": 4, "7-7": 1} {
		if got, err := sandbox.CountCPUs(set); err != nil || got != want {
			t.Errorf("CountCPUs(%q) = %d, %v, want %d", set, got, err, want)
		}
	}
	for _, set := range []string{"", ",", "0,", "a", "3-1", "-1", "0-", "0 1", "99999999", "1-2-3"} {
		if got, err := sandbox.CountCPUs(set); err == nil {
			t.Errorf("CountCPUs(%q) = %d, want an error", set, got)
		}
	}
}
