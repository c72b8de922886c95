package sandbox

// A Filler is a Sandbox that waits over a workspace to which content is brought
// before the first command, as those of a pool do.
type Filler interface {
	// Fill runs a function that changes the workspace from outside. What it adds
	// counts for no limit, as if it had been there before the sandbox. No
	// command may run meanwhile. It returns the function's error.
	Fill(content func() error) error
}
