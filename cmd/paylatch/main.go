// Command paylatch takes payments exactly once. `paylatch --help` lists what it
// can do.
package main

import "os"

func main() {
	a := app{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(a.run(os.Args[1:]))
}
