package docker

// carriedName is the supervisor's file for a processor, as the engine names
// it (uname(1)) or as Go does.
func carriedName(arch string) string {
	switch arch {
	case "x86_64":
		arch = "amd64"
	case "aarch64":
		arch = "arm64"
	}
	return "supervisors/linux-" + arch
}
