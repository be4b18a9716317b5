package mollie_test

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// classic makes notices, which nothing signs.
type classic struct{ webhooks.Verifier }

func (classic) Sign(*webhooks.Delivery) error { return nil }

// namesNothing reports whether a notice has no id, two of them, or one that can't be a part of an address: nothing proves
// who sent it, and there is nothing to look up.
func namesNothing(d webhooks.Delivery, err error) bool {
	form, parseErr := url.ParseQuery(string(d.Body))
	ids := slices.Compact(slices.Sorted(slices.Values(form["id"])))
	one := len(ids) == 1 && regexp.MustCompile(`^[A-Za-z]{1,16}_[A-Za-z0-9]{1,64}$`).MatchString(ids[0])
	return parseErr == nil && errors.Is(err, webhooks.ErrPayload) && !one
}

// FuzzForm has the classic notices; FuzzGenuine has the JSON.
func FuzzForm(f *testing.F) {
	providertest.GenuineForm(f, classic{newVerifier(f)}, namesNothing, nil, "id=tr_7UhSN1zuXS", "id=tr_1&testByMollie=1")
}
