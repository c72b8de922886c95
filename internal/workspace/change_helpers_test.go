package workspace_test

import "github.com/belljar/belljar/internal/workspace"

// A written says what a write did.
type written struct {
	Name            string
	Linked, Created bool
}

func told(t *workspace.Target, existed bool) written {
	return written{Name: t.Name, Linked: t.Linked, Created: !existed}
}

// writeFile makes or replaces one file.
func writeFile(w *workspace.Workspace, name string, data []byte) (got written, err error) {
	err = w.Change(func(c *workspace.Changes) error {
		t, err := c.Place(name)
		if err != nil {
			return err
		}
		got = told(t, t.Exists)
		t.Write(data)
		return nil
	})
	return got, err
}

// updateFile replaces the bytes of a file by what update makes of them.
func updateFile(w *workspace.Workspace, name string, limit int64, update func(old []byte) ([]byte, error)) (got written, err error) {
	err = w.Change(func(c *workspace.Changes) error {
		t, err := c.Existing(name)
		if err != nil {
			return err
		}
		old, err := t.Content(limit)
		if err != nil {
			return err
		}
		data, err := update(old)
		if err != nil {
			return err
		}
		got = told(t, true)
		t.Write(data)
		return nil
	})
	return got, err
}
