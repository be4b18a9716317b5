package cloudpayments

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// With these tokens the customer pays in a bank's app, which opens by a link. The SBP is Russia's Faster Payments System
// (https://developers.cloudpayments.ru/#sbp, #t-pay, #sberpay).
const sbp, tPay, sberPay = "sbp", "tpay", "sberpay"

// links are the methods that return a link.
var links = map[string]string{ //nolint:gochecknoglobals // a table
	sbp: "/payments/qr/sbp/link", tPay: "/payments/qr/tinkoffpay/link", sberPay: "/payments/qr/sberpay/link",
}

// linkMinutes is how long the customer may pay by a link. SberPay takes no such limit.
const linkMinutes = 30

// linkRequest creates a transaction that waits for the customer in a bank's app.
type linkRequest struct {
	chargeRequest

	PublicID   string `json:"PublicId"`
	Scheme     any    `json:"Scheme"`
	Device     string `json:"Device,omitempty"`
	OS         string `json:"Os,omitempty"`
	Browser    string `json:"Browser,omitempty"`
	Webview    bool   `json:"Webview"`
	TTLMinutes int    `json:"TtlMinutes,omitempty"`
}

func (c *Client) linkOf(ch gateway.Charge, r chargeRequest) linkRequest {
	r.IP, r.SuccessRedirectURL = ch.Customer.IP, ch.ReturnURL
	l := linkRequest{chargeRequest: r, PublicID: c.id, Scheme: scheme(ch)}
	if ch.Token == tPay {
		l.FailRedirectURL = ch.ReturnURL
	}
	if ch.Token != sberPay {
		l.TTLMinutes = linkMinutes
	}
	if d, known := kit.DeviceOf(ch.Browser); known {
		l.Device, l.OS, l.Browser = "DesktopWeb", d.OS, d.Browser
		if d.Mobile {
			l.Device = "Mobile"
		}
	}
	return l
}

// scheme returns whether the payment is captured at once. T-Pay has numbers for it.
func scheme(ch gateway.Charge) any {
	holds := ch.Capture == payment.CaptureManual
	switch {
	case ch.Token == tPay && holds:
		return 1
	case ch.Token == tPay:
		return 0
	case holds:
		return "auth"
	}
	return "charge"
}

// link creates a transaction, which the customer pays in the app.
func (c *Client) link(ctx context.Context, ch gateway.Charge, r chargeRequest) (gateway.Outcome, error) {
	a, err := c.command(ctx, links[ch.Token], ch.IdempotencyKey, ch.Permit, c.linkOf(ch, r))
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success && a.Model == nil:
		return refused(a), nil
	case !a.Success:
		return read(a)
	}
	var made struct {
		TransactionID json.Number `json:"TransactionId"`
		URL           string      `json:"QrUrl"`
		Test          *bool       `json:"IsTest"`
	}
	if err := json.Unmarshal(a.Model, &made); err != nil {
		return gateway.Outcome{}, fmt.Errorf("read a link: %w", err)
	}
	if made.TransactionID == "" || made.TransactionID == "0" || made.URL == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: string(made.TransactionID), NextAction: nextIn(ch.Token, made.URL)}
	if made.Test != nil {
		o.Live = new(!*made.Test)
	}
	return o, nil
}

// nextIn returns the link, which a telephone opens. A QR code for other devices has it as its text.
func nextIn(token, link string) *payment.NextAction {
	data, _ := json.Marshal(map[string]string{"type": token, "qr": link}) //nolint:errchkjson // texts always marshal
	return &payment.NextAction{Type: payment.ActionDisplay, URL: link, Data: data}
}

// linkMark is the member of our data that names the app of a transaction.
const linkMark = "app"

// mayBePaid returns for how long the customer may still pay a transaction that waits, after the last call that could
// take its money. It returns false if no end is documented.
func (t transaction) mayBePaid() (time.Duration, bool) {
	switch t.data()[linkMark] {
	case "":
		return proofLife, true
	case sberPay:
		return 0, false
	}
	return linkMinutes*time.Minute + proofLife, true
}

// retriesOnQR reports whether the transaction was declined, and its customer may try again: one QR code of the SBP can be paid any number
// of times (https://developers.cloudpayments.ru/#sbp).
func (t transaction) retriesOnQR() bool {
	return t.Status == statusDeclined && t.data()[linkMark] == sbp
}
