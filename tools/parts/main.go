package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

var errUsage = errors.New("usage: parts sbom FILE")

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "parts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 || args[0] != "sbom" {
		return errUsage
	}
	content, err := os.ReadFile(args[1]) //nolint:gosec // the caller names it
	if err != nil {
		return fmt.Errorf("read the modules: %w", err)
	}
	wrong, err := unlisted(".")
	if err != nil || len(wrong) > 0 {
		return errors.Join(err, fmt.Errorf("%w: %v", errEmbedded, wrong))
	}
	list, err := parts(ctx, ".")
	if err != nil {
		return err
	}
	bill, err := completed(content, list)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if err := e.Encode(bill); err != nil {
		return fmt.Errorf("print the document: %w", err)
	}
	return nil
}

var errEmbedded = errors.New("the embedded files are not as they are listed")
