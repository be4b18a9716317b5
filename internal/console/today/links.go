package today

import (
	"net/url"

	"github.com/paylatch/paylatch/internal/console/layout"
)

// Path is what an open page reads again by itself.
const Path = "/support/today"

const (
	worklistPath  = "/support/discrepancies"
	endpointsPath = "/support/endpoints"
)

// worklistOf is the worklist with one kind.
func worklistOf(kind string) string { return worklistPath + "?kind=" + url.QueryEscape(kind) }

func endpointPath(name string) string { return endpointsPath + "/" + url.PathEscape(name) }

// boxOf is the frame whose search box is that of this page.
func boxOf(f layout.Frame) layout.Frame {
	f.Here = "/support"
	return f
}
