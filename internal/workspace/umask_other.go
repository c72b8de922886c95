//go:build !unix

package workspace

// umask is never asked for where files have no numbered owners.
func umask() (int, error) { return 0o022, nil }
