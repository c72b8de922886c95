package tools

// BashEnv is the environment, as K=V pairs, that the bash tool's rules promise
// to commands: pagers pass text through, programs write plain text, and what
// would wait for a person fails at once with its own message. Whoever makes the
// sandbox passes it on, below what the image and the user set.
func BashEnv() []string {
	return []string{
		"PAGER=cat",
		"GIT_PAGER=cat",
		"MANPAGER=cat",
		"SYSTEMD_PAGER=cat",
		"TERM=dumb",
		"NO_COLOR=1",
		"LANG=C.UTF-8",
		// An editor would wait for keys that never come. git says which option
		// to use instead of one when its editor fails.
		"EDITOR=false",
		"VISUAL=false",
		"GIT_EDITOR=false",
		"GIT_SEQUENCE_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0",
		"DEBIAN_FRONTEND=noninteractive",
	}
}
