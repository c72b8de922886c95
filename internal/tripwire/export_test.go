package tripwire

// Bound sets other bounds for the walks to come.
func (w *Wire) Bound(opts Options) { w.opts = opts.defaults() }
