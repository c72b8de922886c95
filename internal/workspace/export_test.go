package workspace

// OpenPortableFolder is OpenFolder in the way that all systems have.
func OpenPortableFolder(w *Workspace, name string) (*Folder, error) {
	p, err := w.resolve(name, toRead)
	if err != nil {
		return nil, err
	}
	defer p.close()
	root, err := p.dir.OpenRoot(p.base + "/.")
	if err != nil {
		return nil, err
	}
	dir, err := openRootDirectory(root)
	return &Folder{Name: p.name(), dir: dir}, err
}
