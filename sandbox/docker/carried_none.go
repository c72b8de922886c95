//go:build !carried

package docker

import "embed"

// carried is empty in a plain go build: the running program is the supervisor.
var carried embed.FS
