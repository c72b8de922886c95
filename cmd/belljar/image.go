package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox"
)

// newImage makes the verb image.
func newImage(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, list and remove the images of sandboxes",
		RunE:  needsVerb,
	}
	cmd.AddCommand(newImageBuild(a), newImageList(a), newImageRemove(a))
	return cmd
}

// withEngine gives a verb an engine and takes it back.
func (a *app) withEngine(ctx context.Context, flags *engineFlags, use func(engine) error) error {
	opts, err := flags.options()
	if err != nil {
		return err
	}
	connected, err := a.connect(ctx, opts)
	if err != nil {
		return err
	}
	return errors.Join(use(connected), connected.Close())
}

func newImageBuild(a *app) *cobra.Command {
	var flags engineFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build belljar's own image, unless it is there",
		Long: `build makes belljar's own image and prints its name. The name holds a hash of
what the image is made from, so an image that is there is up to date and is not
built again unless --force asks for it.`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				return a.buildImage(cmd.Context(), e, force)
			})
		}),
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "build it also when it is there")
	return cmd
}

// buildImage makes belljar's own image and prints its name.
func (a *app) buildImage(ctx context.Context, e engine, force bool) error {
	build := func() (sandbox.Image, error) { return e.EnsureImage(ctx, images.Tag(), a.stderr) }
	if force {
		build = func() (sandbox.Image, error) { return e.BuildDefault(ctx, a.stderr) }
	}
	image, err := build()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out(), image.Ref)
	return err
}

func newImageList(a *app) *cobra.Command {
	var flags engineFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List belljar's images on the engine",
		Args:  noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				return a.listImages(cmd.Context(), e, asJSON)
			})
		}),
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// listImages prints the images.
func (a *app) listImages(ctx context.Context, e engine, asJSON bool) error {
	list, err := e.ListImages(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"IMAGE", "ID", "SIZE", "CREATED", "NOTE"}}
	for _, image := range list {
		if asJSON {
			if err := writeJSON(a.out(), image); err != nil {
				return err
			}
			continue
		}
		note, name := "", image.Ref
		if image.Default {
			note = "in use by this belljar"
		}
		if name == "" {
			name = "-"
		}
		rows = append(rows, []string{name, shortID(image.ID), ui.Size(image.Size), image.Created.Local().Format("2006-01-02 15:04"), note})
	}
	switch {
	case asJSON:
		return nil
	case len(list) == 0:
		a.notice("there are no images; belljar image build makes one")
		return nil
	}
	return ui.Table(a.out(), a.tableWidth(), rows)
}

// shortID is an image's id as people name it.
func shortID(id string) string {
	const prefix, length = "sha256:", 12
	if len(id) > len(prefix)+length && id[:len(prefix)] == prefix {
		return id[len(prefix) : len(prefix)+length]
	}
	return id
}

func newImageRemove(a *app) *cobra.Command {
	var flags engineFlags
	cmd := &cobra.Command{
		Use:   "rm IMAGE...",
		Short: "Remove images from the engine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("rm needs the name of an image; belljar image ls lists them")
			}
			return nil
		},
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				var errs []error
				for _, ref := range args {
					errs = append(errs, a.removeImage(cmd.Context(), e, ref))
				}
				return errors.Join(errs...)
			})
		}),
	}
	flags.add(cmd.Flags())
	return cmd
}

// removeImage removes one image and prints its name.
func (a *app) removeImage(ctx context.Context, e engine, ref string) error {
	_, found, err := e.Image(ctx, ref)
	if err != nil {
		return err
	}
	if !found {
		return &noError{fmt.Errorf("the engine has no image %s; belljar image ls lists those of belljar", ref)}
	}
	if err := e.RemoveImage(ctx, ref); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out(), ref)
	return err
}
