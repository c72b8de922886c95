//go:build carried

package docker

import "embed"

// carried holds the supervisors that make build made, by processor.
//
//go:embed supervisors
var carried embed.FS
