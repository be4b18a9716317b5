// Command paylatch takes payments exactly once. `paylatch --help` lists its commands.
package main

import "os"

func main() {
	a := app{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(a.run(os.Args[1:]))
}
