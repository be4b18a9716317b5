package console

import (
	"net/url"

	"github.com/paylatch/paylatch/fsm"
)

func eventPath(id string) string { return "/support/events/" + id }

const (
	disputesPath = "/support/disputes"
)

// disputesOf is the page of disputes with a status, empty for open ones, and of an account, empty for all.
func disputesOf(s fsm.DisputeState, account string) string {
	q := url.Values{}
	if s != "" {
		q.Set("status", string(s))
	}
	if account != "" {
		q.Set("account", account)
	}
	if len(q) == 0 {
		return disputesPath
	}
	return disputesPath + "?" + q.Encode()
}
