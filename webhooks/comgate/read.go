package comgate

import (
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// parse reads a form. price is in hundredths of the currency, as ISO 4217 has it for all that Comgate takes. refId, test and
// price are those of the payment's form, which a browser may have sent with the shop's number alone.
func parse(form map[string]string) (webhooks.Event, error) {
	id, status := form["transId"], form["status"]
	e := webhooks.Event{
		ID: read.DerivedID(id, status), IDSource: webhooks.Derived, Type: status, Kind: webhooks.KindIgnored,
		References: read.References(form["refId"], id), ProviderPaymentID: id, BrowserMark: form["refId"] != "",
		Payee: form["merchant"], Mode: read.ModeText(form["test"], "true", "false"),
	}
	if id == "" || status == "" {
		return e, fmt.Errorf("%w: form without transId or status", webhooks.ErrPayload)
	}
	switch status {
	case "PENDING":
		e.Kind = webhooks.KindProcessing
	case "AUTHORIZED":
		e.Kind = webhooks.KindAuthorized
	case "PAID":
		e.Kind = webhooks.KindSucceeded
	case "CANCELLED":
		e.Kind, e.FailureCode = webhooks.KindFailed, webhooks.CodeCanceled
	default:
		return e, nil
	}
	e.NeedsFetch = true
	return read.WithUnitsText(e, form["price"], form["curr"], nil)
}
