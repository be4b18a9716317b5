package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// facts describes the machine, the versions and the options of the run.
func (b *bench) facts(ctx context.Context, args []string) (string, error) {
	var version string
	if err := b.admin.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	version, _, _ = strings.Cut(version, " ")
	command := "make bench"
	if len(args) > 0 {
		command += " ARGS='" + strings.Join(args, " ") + "'"
	}
	return fmt.Sprintf("%s, %d processors (%s), %s/%s, PostgreSQL %s with its default settings, %s; load of the machine before: %s; "+
		"medians of %d rounds, %s a stage: `%s`\n",
		now().UTC().Format(time.DateOnly), runtime.NumCPU(), processor(), runtime.GOOS, runtime.GOARCH, version, runtime.Version(),
		b.load, b.opts.rounds, b.opts.window, command), nil
}

// loadAverage is how many processes wanted to run in the last minute: above a
// few tenths, others were at work and the figures are not worth much.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	load, _, found := strings.Cut(string(text), " ")
	if err != nil || !found {
		return "unknown"
	}
	return load
}

// processor returns the model's name from Linux.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "model unknown"
	}
	m := regexp.MustCompile(`model name\s*: (.+)`).FindSubmatch(text)
	if m == nil {
		return "model unknown"
	}
	return strings.TrimSpace(string(m[1]))
}
