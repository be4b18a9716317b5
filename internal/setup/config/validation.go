package config

import (
	"fmt"
	"slices"
	"strings"
)

// ValidationErrors is the error of an invalid configuration. It has all errors, each with its key and its remedy.
type ValidationErrors []string

// Error lists them, one a line.
func (m ValidationErrors) Error() string { return strings.Join(m, "\n") }

// report collects validation errors, at most one for each key: further errors of a key mostly follow from the first.
type report struct {
	list ValidationErrors
	keys []string
	// file is the path of the configuration, empty if there is no file, content its bytes, and environ the environment.
	file    string
	content []byte
	environ map[string]string
	// unread is set if the file could not be read. Missing keys are not reported then.
	unread bool
}

func (r *report) add(key, format string, args ...any) {
	if key != "" && slices.Contains(r.keys, key) {
		return
	}
	r.keys = append(r.keys, key)
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = key + ": " + text
	}
	r.list = append(r.list, text)
}

// touches reports whether there is an error at the key or below it.
func (r *report) touches(key string) bool {
	return slices.ContainsFunc(r.keys, func(k string) bool {
		rest, ok := strings.CutPrefix(k, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

func (r *report) err() error {
	if len(r.list) == 0 {
		return nil
	}
	return r.list
}
