package adyen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// unsignable reports whether a body has an empty list of items, which has no signature, or an item with a ":" in a field
// that is signed beside others with ":" between them, so that what was signed has a second reading.
func unsignable(d webhooks.Delivery, err error) bool {
	var body struct {
		Items []struct {
			Fields map[string]any `json:"NotificationRequestItem"`
		} `json:"notificationItems"`
	}
	if json.Unmarshal(d.Body, &body) != nil {
		return false
	}
	if len(body.Items) == 0 {
		return errors.Is(err, webhooks.ErrSignatureMissing)
	}
	for _, item := range body.Items {
		fields := item.Fields
		amount, _ := fields["amount"].(map[string]any)
		for _, value := range []any{
			fields["pspReference"], fields["originalReference"], fields["merchantAccountCode"], fields["eventCode"], fields["success"],
			amount["value"], amount["currency"],
		} {
			if strings.Contains(fmt.Sprint(value), ":") {
				return errors.Is(err, webhooks.ErrSignatureMalformed)
			}
		}
	}
	return false
}

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "adyen", newVerifier(f), unsignable,
		adyenBody(adyenItem("AUTHORISATION", "true", ""), adyenItem("REFUND", "false", "")),
		`{"type":"x","eventId":"E1","data":{"a":{"id":"b"}}}`,
	)
}
