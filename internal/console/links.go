package console

import (
	"net/url"
)

// Path is the address that an open page reads again by script.
const Path = "/support/today"

const (
	todayWorklistPath = "/support/discrepancies"
	endpointsPath     = "/support/endpoints"
)

// worklistOf is the worklist with one kind.
func worklistOf(kind string) string { return todayWorklistPath + "?kind=" + url.QueryEscape(kind) }

func todayEndpointPath(name string) string { return endpointsPath + "/" + url.PathEscape(name) }

// boxOf returns the frame with the search box of this page.
func boxOf(f Frame) Frame {
	f.Here = "/support"
	return f
}
