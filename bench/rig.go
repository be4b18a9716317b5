package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/migrations"
)

//go:embed sql
var scripts embed.FS

// rig is shared by the stages of a run: a PostgreSQL server, the program, a provider that answers at once, and a directory for
// the files.
type rig struct {
	opts   options
	out    io.Writer
	dir    string
	bin    string
	binary string
	pg     *devpg.Server
	admin  *pgx.Conn
	stub   *stub
	// endpoint is the address to which the started programs deliver events; may be empty.
	endpoint string
	load     string
}

// shape is the migrated database that the others are copies of.
const shape = "shape"

func newRig(ctx context.Context, o options, out io.Writer) (*rig, error) {
	r := &rig{opts: o, out: out, load: loadAverage()}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *rig) open(ctx context.Context) error {
	dir, err := filepath.Abs(r.opts.dir)
	if err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	if r.dir, err = os.MkdirTemp(dir, "bench-"); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	r.say("building the program")
	if err := r.build(ctx); err != nil {
		return err
	}
	if err := os.CopyFS(r.dir, scripts); err != nil {
		return fmt.Errorf("scripts: %w", err)
	}
	if r.stub, err = newStub(ctx); err != nil {
		return err
	}
	return r.startDatabase(ctx)
}

// startDatabase keeps PostgreSQL's default settings, fsync included; a profile also counts statements. To simulate a slower
// disk, the process that writes the WAL sleeps, and all commits wait meanwhile, as they would for the disk.
func (r *rig) startDatabase(ctx context.Context) (err error) {
	if r.bin, err = devpg.FindBin(); err != nil {
		return err
	}
	c := devpg.Config{Dir: filepath.Join(r.dir, "pg"), BinDir: r.bin, Params: map[string]string{}}
	if r.opts.profile != "" {
		c.Params["shared_preload_libraries"], c.Params["pg_stat_statements.track_planning"] = "pg_stat_statements", "on"
	}
	if r.opts.disk > 0 {
		c.Params["commit_delay"], c.Params["commit_siblings"] = strconv.FormatInt(r.opts.disk.Microseconds(), 10), "0"
	}
	r.say("starting PostgreSQL")
	if r.pg, err = devpg.Start(ctx, c); err != nil {
		return err
	}
	if r.admin, err = pgx.Connect(ctx, r.pg.DSN("postgres")); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if _, err := r.admin.Exec(ctx, "CREATE DATABASE "+shape); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return migrations.Up(ctx, r.pg.DSN(shape))
}

// build makes the program as `make build` does, beside the run's own data.
func (r *rig) build(ctx context.Context, more ...string) error {
	r.binary = filepath.Join(r.dir, "paylatch")
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", r.binary}, more...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/paylatch")...) //nolint:gosec // our own arguments
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w: %s", err, said)
	}
	return nil
}

func (r *rig) close() error {
	ctx := context.Background()
	if r.admin != nil {
		_ = r.admin.Close(ctx)
	}
	if r.stub != nil {
		r.stub.close()
	}
	var err error
	if r.pg != nil {
		err = r.pg.Stop()
	}
	if r.dir != "" {
		err = errors.Join(err, os.RemoveAll(r.dir))
	}
	return err
}

func (r *rig) say(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

// tool finds one of PostgreSQL's programs: beside the server, at the target of a link to the server, or in PATH.
func (r *rig) tool(name string) (string, error) {
	dirs := []string{r.bin}
	if target, err := filepath.EvalSymlinks(filepath.Join(r.bin, "postgres")); err == nil {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is needed; it comes with PostgreSQL's server or its contrib package: %w", name, err)
	}
	return found, nil
}

func (r *rig) script(name string) string { return filepath.Join(r.dir, "sql", name) }
