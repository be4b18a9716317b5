package today

import (
	"net/url"

	"github.com/paylatch/paylatch/internal/console/layout"
)

// Path is the address that an open page reads again by script.
const Path = "/support/today"

const (
	worklistPath  = "/support/discrepancies"
	endpointsPath = "/support/endpoints"
)

// worklistOf is the worklist with one kind.
func worklistOf(kind string) string { return worklistPath + "?kind=" + url.QueryEscape(kind) }

func endpointPath(name string) string { return endpointsPath + "/" + url.PathEscape(name) }

// boxOf returns the frame with the search box of this page.
func boxOf(f layout.Frame) layout.Frame {
	f.Here = "/support"
	return f
}
