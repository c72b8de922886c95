package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/belljar/belljar/internal/diskusage"
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// minDisk is the least that the default of the disk limit is brought down to
// where little is free, in bytes.
const minDisk = 256 * sandbox.MiB

// diskLimit is the limit for a spec that asks for none: half of what is free
// where the workspace is, and no more than the usual.
func diskLimit(workspace string, limit int64) int64 {
	_, free, err := diskusage.Space(workspace)
	if err != nil {
		return limit
	}
	return min(limit, max(free/2, minDisk)) &^ (sandbox.MiB - 1)
}

// diskLoosened says in what the disk is not limited, "" for nothing.
func diskLoosened(spec sandbox.Spec) string {
	if spec.Limits.Disk == sandbox.NoLimit {
		return "disk=none"
	}
	if _, _, err := diskusage.Space(spec.Workspace); errors.Is(err, diskusage.ErrUnsupported) {
		return "disk=single files only"
	}
	return ""
}

// quotaRoom is how far a storage driver lets a layer go over the limit, in
// bytes: the watch ends what writes and says what grew, and what it comes too
// late for meets the driver. At a driver's limit even the removal of a file may
// fail.
const quotaRoom = 256 * sandbox.MiB

// quota is the size of the writable layer, for storage drivers that can hold
// it. With overlay2 only the engine knows whether its file system is mounted
// so; it refuses the container otherwise.
func (p *plan) quota() map[string]string {
	if p.spec.Limits.Disk <= 0 || p.spec.RootFS != sandbox.RootWritable {
		return nil
	}
	info := p.engine.info
	switch info.Driver {
	case "btrfs", "zfs":
	case "overlay2":
		backing := ""
		for _, status := range info.DriverStatus {
			if status[0] == "Backing Filesystem" {
				backing = status[1]
			}
		}
		if backing != "xfs" {
			return nil
		}
	default:
		return nil
	}
	return map[string]string{"size": strconv.FormatInt(p.spec.Limits.Disk+quotaRoom, 10)}
}

// noQuota tells that an engine cannot hold the size of a layer.
func noQuota(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "storage-opt") || strings.Contains(text, "quota")
}

// watchDisk starts to watch what commands write, where there is a limit. The
// container was made and has not run.
func (b *box) watchDisk(plan *plan) {
	limit := plan.spec.Limits.Disk
	if limit <= 0 {
		return
	}
	b.disk = newDiskWatch(limit, time.Now(), func(grown diskAmount) { b.overDisk(b.disk.limit, grown) })
	b.disk.held = b.heldOpen(plan)
	b.readers.Go(func() { b.disk.run(b.lifetime, b.diskParts(plan)) })
}

// Fill lets the caller bring content to the workspace. See sandbox.Filler.
func (b *box) Fill(content func() error) error { return b.disk.fill(content) }

// diskParts are the places that commands can write to on disk.
func (b *box) diskParts(plan *plan) []diskPart {
	parts := []diskPart{folderPart(sandbox.MountPoint, plan.spec.Workspace)}
	writable := plan.spec.RootFS == sandbox.RootWritable
	if !writable && len(plan.volumes) == 0 {
		return parts
	}
	// Without an answer the layer and the volumes are asked for again.
	found, err := b.engine.api.ContainerInspect(b.lifetime, b.id)
	if writable {
		parts = append(parts, b.layer(found))
	}
	if err != nil {
		for _, target := range plan.volumes {
			parts = append(parts, b.unknownVolume(target))
		}
		return parts
	}
	for _, m := range found.Mounts {
		if ownVolume(m) {
			parts = append(parts, b.volume(m))
		}
	}
	return parts
}

// ownVolume tells whether a mount is a volume that commands can write to.
func ownVolume(m container.MountPoint) bool { return m.Type == mount.TypeVolume && m.RW }

// folderPart is a folder of the host that is seen at a path inside.
func folderPart(shown, dir string) diskPart {
	return diskPart{shown: shown, dir: dir, measure: func(ctx context.Context, since time.Time) (diskusage.Usage, error) {
		return diskusage.Measure(ctx, dir, since)
	}}
}

// canRead tells whether a folder can be looked into from here.
func canRead(dir string) bool {
	handle, err := os.Open(dir)
	if err != nil {
		return false
	}
	handle.Close()
	return true
}

// layer is the writable layer: read from its folder where that can be seen,
// else by asking the engine, which adds up the same folder. Where only a
// container that runs tells its folder, the first look comes too early for it.
func (b *box) layer(found container.InspectResponse) diskPart {
	upper := layerFolder(found)
	part := diskPart{dir: upper, measure: func(ctx context.Context, since time.Time) (diskusage.Usage, error) {
		if upper == "" {
			if found, err := b.engine.api.ContainerInspect(ctx, b.id); err == nil {
				upper = layerFolder(found)
			}
		}
		if upper == "" {
			return b.layerSize(ctx, since)
		}
		return diskusage.Measure(ctx, upper, since)
	}}
	if upper == "" {
		part.dir = b.engine.info.DockerRootDir
	}
	return part
}

// volume is one that the image declares, which the engine made for this
// container. Where it cannot be looked into it is hidden as a whole: an engine
// tells the size of a volume only with that of all others.
func (b *box) volume(m container.MountPoint) diskPart {
	if canRead(m.Source) {
		return folderPart(m.Destination, m.Source)
	}
	hidden := diskusage.Usage{Hidden: 1}
	return diskPart{
		shown: m.Destination, dir: b.engine.info.DockerRootDir,
		measure: func(context.Context, time.Time) (diskusage.Usage, error) { return hidden, nil },
	}
}

// unknownVolume is one that the engine has not told of, and is asked for with
// each look until it does.
func (b *box) unknownVolume(target string) diskPart {
	var measure func(context.Context, time.Time) (diskusage.Usage, error)
	return diskPart{shown: target, dir: b.engine.info.DockerRootDir, measure: func(ctx context.Context, since time.Time) (diskusage.Usage, error) {
		if measure == nil {
			found, err := b.engine.api.ContainerInspect(ctx, b.id)
			if err != nil {
				return diskusage.Usage{}, fmt.Errorf("looking for the volume at %s: %w", target, err)
			}
			measure = func(context.Context, time.Time) (diskusage.Usage, error) { return diskusage.Usage{}, nil }
			for _, m := range found.Mounts {
				if ownVolume(m) && m.Destination == path.Clean(target) {
					measure = b.volume(m).measure
				}
			}
		}
		return measure(ctx, since)
	}}
}

// layerSize asks the engine for the size of the writable layer.
func (b *box) layerSize(ctx context.Context, _ time.Time) (diskusage.Usage, error) {
	found, _, err := b.engine.api.ContainerInspectWithRaw(ctx, b.id, true)
	switch {
	case err != nil:
		return diskusage.Usage{}, fmt.Errorf("asking for the size of the container: %w", err)
	case found.SizeRw == nil:
		return diskusage.Usage{}, errors.New("the engine does not tell the size of the container")
	}
	return diskusage.Usage{Total: *found.SizeRw, Fresh: *found.SizeRw}, nil
}

// create makes the container, without a size of its layer where the engine
// cannot hold that.
func (p *plan) create(ctx context.Context) (container.CreateResponse, error) {
	config, host := p.container()
	created, err := p.engine.create(ctx, config, host, p.name)
	if err != nil && host.StorageOpt != nil && noQuota(err) {
		host.StorageOpt = nil
		created, err = p.engine.create(ctx, config, host, p.name)
	}
	return created, err
}

// overDisk ends what earlier commands left, which may be what writes, and
// gives a sandbox up that goes on and on.
func (b *box) overDisk(limit, grown diskAmount) {
	if err := b.endLeft(); err != nil {
		b.engine.log.Warn("ending what commands left", "container", b.id, "error", err)
	}
	if grown.bytes > limit.bytes+max(limit.bytes, farOver) || grown.files > limit.files+max(limit.files, farOver/fileBytes) {
		// Not lost: another sandbox would get as much space again.
		b.giveUp(errors.New("the sandbox is given up: commands went on writing far over the disk limit (free the space, then run again)"))
	}
}

// endLeft ends everything that belongs to no command that runs.
func (b *box) endLeft() error {
	b.killing.Lock()
	defer b.killing.Unlock()
	b.mu.Lock()
	// Where a command's tree is not known, what it left is not either.
	left := len(b.known) > 0 || !b.info.Capabilities.KillTree
	b.mu.Unlock()
	if !left {
		return nil
	}
	killer := b.pool.borrowKiller()
	if killer == nil {
		return errors.New("no spare waits that could")
	}
	// What was left has no supervisor any more. Those that start or wait, and
	// what runs below them, are not touched.
	_, err := b.askKiller(killer, supervisor.Request{Op: supervisor.Kill, Orphans: true})
	b.pool.giveBack(killer)
	return err
}
