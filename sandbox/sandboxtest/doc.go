// Package sandboxtest holds what tests of sandboxes share: the conformance
// suite that every [sandbox.Runtime] passes, and a small real runtime for
// tests that need no engine.
//
// The suite, [TestRuntime], has a core that every runtime passes and a part
// for each capability that a runtime declares. A part whose capability is not
// declared is not registered at all: a skipped test would read as a promise
// that somebody forgot. The suite asks nothing of the shell beyond POSIX
// unless [Config] says that it is bash.
//
// The runtime, [NewRuntime], runs commands as processes of the host on the
// workspace itself. It isolates nothing, so it is for trusted commands only.
//
// Only tests import this package.
package sandboxtest
