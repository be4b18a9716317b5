package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of another project that is embedded in the program as it was published.
type file struct {
	name, version string
	// purl is its package URL, path its path in the tree, sum the SHA-256 of the published file.
	purl, path, sum string
	licence, text   string
}

//go:embed texts/htmx.txt
var htmxLicence string

//go:embed texts/pico.txt
var picoLicence string

func embedded() []file {
	return []file{
		{
			"htmx.org", "2.0.11", "pkg:npm/htmx.org@2.0.11", "internal/console/assets/htmx.min.js",
			"d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717", "0BSD", htmxLicence,
		},
		{
			"@picocss/pico", "2.1.1", "pkg:npm/%40picocss/pico@2.1.1", "internal/platform/page/assets/pico.min.css",
			"fbc9a63fc9fc9f72d12fd7fc9806e11fa9f77ae4f9cad146b27003a1119ba3db", "MIT", picoLicence,
		},
	}
}

// unlisted describes the errors of the list of embedded files: a file that differs from its published version, and a minified
// file in the program's directories that is not listed.
func unlisted(root string) (wrong []string, err error) {
	known := map[string]string{}
	for _, e := range embedded() {
		known[e.path] = e.sum
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "testdata", ".paylatch"}, d.Name()) {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		sum, listed := known[name]
		if d.IsDir() || !listed && !strings.Contains(d.Name(), ".min.") && !strings.HasSuffix(name, ".woff2") {
			return nil
		}
		content, err := os.ReadFile(path) //nolint:gosec // a file of the tree
		if err != nil {
			return fmt.Errorf("read an embedded file: %w", err)
		}
		delete(known, name)
		if is := sha256.Sum256(content); sum != hex.EncodeToString(is[:]) {
			wrong = append(wrong, fmt.Sprintf("%s: its SHA-256 %x is not among the embedded files", name, is))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for embedded files: %w", err)
	}
	for name := range known {
		wrong = append(wrong, name+": is not in the tree")
	}
	return wrong, nil
}
