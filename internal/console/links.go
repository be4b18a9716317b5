package console

import (
	"net/url"
)

// Path is the address that an open page reads again by script.
const Path = "/support/today"

// worklistOf is the worklist with one kind.
func worklistOf(kind string) string { return WorklistPath + "?kind=" + url.QueryEscape(kind) }

// boxOf returns the frame with the search box of this page.
func boxOf(f Frame) Frame {
	f.Here = "/support"
	return f
}
