// Command docs writes the documentation as pages into a folder. They are the pages that the service has under /docs/.
package main

import (
	"fmt"
	"os"

	"github.com/paylatch/paylatch/internal/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docs FOLDER")
		os.Exit(2)
	}
	if err := api.WriteGuides(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}
