// Command paylatch takes payments exactly once. `paylatch --help` lists what it
// can do.
package main

import (
	"os"

	"github.com/paylatch/paylatch/internal/timerslack"
)

func main() {
	timerslack.Restart() // once; all else is in the second beginning
	a := app{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(a.run(os.Args[1:]))
}
