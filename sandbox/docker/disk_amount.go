package docker

import "github.com/belljar/belljar/internal/diskusage"

// A diskAmount is how much there is, or may be: bytes, and files, folders and
// what else has a name.
type diskAmount struct{ bytes, files int64 }

// fileBytes is how much of the limit stands for one file, about the least that
// one with content takes; leastFiles may be there in any case, so that a small
// limit lets a repository be made. fileSlack is diskSlack for files.
const (
	fileBytes  = 4 << 10
	leastFiles = 4096
	fileSlack  = 1024
)

// diskLimits are the limits that a limit on bytes makes.
func diskLimits(bytes int64) diskAmount { return diskAmount{bytes, max(bytes/fileBytes, leastFiles)} }

func (a diskAmount) plus(b diskAmount) diskAmount {
	return diskAmount{a.bytes + b.bytes, a.files + b.files}
}

// since is how much more there is than before, none where it is less.
func (a diskAmount) since(before diskAmount) diskAmount {
	return diskAmount{max(a.bytes-before.bytes, 0), max(a.files-before.files, 0)}
}

// most is the larger of each.
func (a diskAmount) most(b diskAmount) diskAmount {
	return diskAmount{max(a.bytes, b.bytes), max(a.files, b.files)}
}

// reaches tells whether either is as much as may be.
func (a diskAmount) reaches(ceiling diskAmount) bool {
	return a.bytes >= ceiling.bytes || a.files >= ceiling.files
}

// taken is what a folder's file system holds by its own count.
func taken(dir string) (diskAmount, error) {
	used, _, err := diskusage.Space(dir)
	if err != nil {
		return diskAmount{}, err
	}
	files, err := diskusage.Inodes(dir)
	return diskAmount{used, files}, err
}

// nextCeiling is what may be there after a look: a little more where it was too
// much, and what was freed is not free to be written again beyond the limit.
func nextCeiling(limit, ceiling, grown, slack int64) int64 {
	if grown >= ceiling {
		return grown + slack
	}
	return max(limit, min(ceiling, grown+slack))
}
