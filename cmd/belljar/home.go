package main

import (
	"os"
	"os/user"
)

// findHome sets HOME where the environment has none, as under env -i, cron or
// some service managers: the record and the cache have a place below it. Who is
// not in the user database is told by whatever needs one.
func findHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	if me, err := user.Current(); err == nil && me.HomeDir != "" {
		_ = os.Setenv("HOME", me.HomeDir) // what needs it says that it is missing
	}
}
