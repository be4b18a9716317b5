package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// part is code of others in the program.
type part struct {
	name, version string
	// licences are SPDX identifiers.
	licences []string
	// texts are the licence and the notices that go with it, by the name of their file.
	texts map[string]string
}

// module is a module as the go command lists it.
type module struct {
	Path    string  `json:"path"`
	Version string  `json:"version"`
	Dir     string  `json:"dir"`
	Main    bool    `json:"main"`
	Replace *module `json:"replace"`
}

// targets are the systems that the program is built for. Some modules are linked on one alone.
func targets() []string { return []string{"linux/amd64", "linux/arm64", "darwin/arm64"} }

var errNoLicence = errors.New("no licence that is recognised")

// parts lists the parts of the program in the tree at root, sorted by name, the standard library first.
func parts(ctx context.Context, root string) ([]part, error) {
	modules, err := linked(ctx, root)
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the standard library: %w", err)
	}
	std, err := read("the Go standard library", "", strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}
	var list []part
	for _, m := range modules {
		p, err := read(m.Path, m.Version, m.Dir)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	for _, e := range embedded() {
		p := part{e.name, e.version, []string{e.licence}, map[string]string{"LICENSE": e.text}}
		if got := recognised(e.text); !slices.Equal(got, p.licences) {
			return nil, fmt.Errorf("%s: %w: the text is of %v, not of %s", e.name, errNoLicence, got, e.licence)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return append([]part{std}, list...), nil
}

// linked lists the modules with packages that are linked for any target.
func linked(ctx context.Context, root string) ([]module, error) {
	found := map[string]module{}
	for _, target := range targets() {
		system, machine, _ := strings.Cut(target, "/")
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "./cmd/paylatch")
		list.Dir, list.Env = root, append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
		var complaint bytes.Buffer
		list.Stderr = &complaint
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked: %w: %s", err, complaint.String())
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Module *module `json:"module"`
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read what is linked: %w", err)
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			m := *p.Module
			if m.Replace != nil {
				m.Version, m.Dir = m.Replace.Version, m.Replace.Dir
			}
			found[m.Path] = m
		}
	}
	list := make([]module, 0, len(found))
	for _, m := range found {
		list = append(list, m)
	}
	return list, nil
}

// read reads the licence of a part from its directory.
func read(name, version, dir string) (part, error) {
	p := part{name: name, version: version, texts: map[string]string{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	for _, e := range entries {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // a file of a module
		if err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
		p.texts[e.Name()] = string(text)
		for _, id := range recognised(string(text)) {
			if !slices.Contains(p.licences, id) {
				p.licences = append(p.licences, id)
			}
		}
	}
	if len(p.licences) == 0 {
		return p, fmt.Errorf("%s %s: %w", name, version, errNoLicence)
	}
	return p, nil
}

func isLicence(file string) bool {
	upper := strings.ToUpper(file)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"}, func(prefix string) bool {
		return upper == prefix || strings.HasPrefix(upper, prefix+".") || strings.HasPrefix(upper, prefix+"-")
	})
}
