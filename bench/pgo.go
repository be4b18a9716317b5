package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"
)

// pgo profiles all paths, and writes one CPU profile for the compiler.
func (r *rig) pgo(ctx context.Context) error {
	var files []string
	for _, path := range []string{partWebhooks, "pays", "replays", "reads"} {
		dir := filepath.Join(r.dir, path)
		r.opts.profile, r.opts.path = dir, path
		if err := r.profile(ctx); err != nil {
			return fmt.Errorf("profile %s: %w", path, err)
		}
		files = append(files, filepath.Join(dir, "cpu.pprof"))
	}
	return mergeProfiles(files, r.opts.pgo)
}

// mergeProfiles writes the sum of CPU profiles, without the place where the program was.
func mergeProfiles(files []string, into string) error {
	var all []*profile.Profile
	for _, name := range files {
		raw, err := os.ReadFile(name) //nolint:gosec // written by this run
		if err != nil {
			return fmt.Errorf("read a profile: %w", err)
		}
		one, err := profile.ParseData(raw)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		all = append(all, one)
	}
	sum, err := profile.Merge(all)
	if err != nil {
		return fmt.Errorf("merge profiles: %w", err)
	}
	for _, m := range sum.Mapping {
		m.File = "paylatch"
	}
	f, err := os.Create(into) //nolint:gosec // a file that the caller names
	if err != nil {
		return fmt.Errorf("create the profile: %w", err)
	}
	if err := sum.Write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the profile: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the profile: %w", err)
	}
	return nil
}
