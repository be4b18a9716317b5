package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	limited := false
	flag.Visit(func(f *flag.Flag) { limited = limited || f.Name == "test.parallel" })
	if !limited {
		_ = flag.Set("test.parallel", strconv.Itoa(max(4, 3*runtime.NumCPU()))) // they wait more than they work
	}
	dir, err := os.MkdirTemp("", "paylatch-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "paylatch")
	build := exec.CommandContext(context.Background(), "go", "build", "-pgo=off", "-o", binary, "github.com/paylatch/paylatch/cmd/paylatch")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", out)
		os.Exit(1)
	}
	code := m.Run()
	quitBrowser()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
