//go:build !unix

package tripwire

import "os"

// openFlags: FIFOs are not files here.
const openFlags = os.O_RDONLY
