package gopay_test

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// called makes the call of an address that has the body as its query.
type called struct{ webhooks.Verifier }

func (called) Sign(d *webhooks.Delivery) error {
	d.URL, d.Body = "https://pay.example/webhooks/gp?"+string(d.Body), nil
	return nil
}

// namesNoPayment reports whether a call has no id, two of them, or one that can't be a part of an address: nothing proves
// who called, and there is nothing to look up.
func namesNoPayment(d webhooks.Delivery, err error) bool {
	address, parseErr := url.Parse(d.URL)
	ids := address.Query()["id"]
	slices.Sort(ids)
	ids = slices.Compact(ids)
	one := len(ids) == 1 && regexp.MustCompile(`^[0-9]{1,19}$`).MatchString(ids[0])
	return parseErr == nil && errors.Is(err, webhooks.ErrPayload) && !one
}

func FuzzGenuine(f *testing.F) {
	providertest.GenuineForm(f, called{newVerifier(f)}, namesNoPayment, nil,
		"id=3000006529", "payment_attempt_id=att_1&id=3000006529",
		"tag=a&tag=b&id=3000006529", // a name of the shop's twice: the notification was refused
	)
}
