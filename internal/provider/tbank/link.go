package tbank

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// With these tokens the customer pays in a bank's app, which opens by a link or a QR code. The SBP is Russia's Faster Payments
// System (https://www.tbank.ru/kassa/dev/payments/#tag/SBP, #tag/T-Pay, #tag/SberPay).
const sbp, tPay, sberPay = "sbp", "tpay", "sberpay"

var apps = map[string]bool{sbp: true, tPay: true, sberPay: true} //nolint:gochecknoglobals // a table

// inApp marks a payment that begins at the shop's own button for T-Pay or SberPay.
func (a *additional) inApp(d gateway.Details) {
	switch d.Token {
	case tPay:
		a.TinkoffPayWeb = "true"
	case sberPay:
		a.SberPayWeb = "true"
	default:
		return
	}
	a.Device = device(d.Browser)
}

// device returns the bank's word for the browser's device. It is empty if the browser is not known.
func device(b *gateway.Browser) string {
	switch d, known := kit.DeviceOf(b); {
	case !known:
		return ""
	case d.Mobile:
		return "Mobile"
	}
	return "Desktop"
}

// qrRequest has the parameters of GetQr. Its PaymentId is a number, unlike that of other methods.
type qrRequest struct {
	TerminalKey string      `json:"TerminalKey"`
	PaymentID   json.Number `json:"PaymentId"`
	DataType    string      `json:"DataType"`
}

// link requests the link of a begun payment. The customer has no link if that fails, whatever the reason, and can't pay.
// So the payment must be cancelled.
func (c *Client) link(ctx context.Context, begun answer, ch gateway.Charge) (gateway.Outcome, error) {
	id := string(begun.PaymentID)
	if id == "" {
		return gateway.Outcome{}, errNameless
	}
	got, err := c.linked(ctx, id, ch)
	if err != nil {
		return unlinked(id, payment.NewFailure("not_started", "")), nil //nolint:nilerr // see above
	}
	a, err := read(got)
	if err == nil && !a.Success {
		return unlinked(id, payment.NewFailure("provider_rejected", string(a.ErrorCode))), nil
	}
	var l linkAnswer
	if err != nil || got.Read(&l) != nil || l.url() == "" {
		return unlinked(id, payment.NewFailure("not_started", "")), nil //nolint:nilerr // see above
	}
	return c.waits(begun, nextIn(ch, l))
}

func unlinked(id string, why *payment.Failure) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventSoftFailed, ProviderPaymentID: id, Failure: why}
}

// linked calls the method of the token. The methods of T-Pay and SberPay are not signed.
func (c *Client) linked(ctx context.Context, id string, ch gateway.Charge) (kit.Answer, error) {
	as := kit.Request{Permit: &ch.Permit}
	switch ch.Token {
	case sbp:
		return c.signed(ctx, "GetQr", qrRequest{TerminalKey: c.terminal, PaymentID: json.Number(id), DataType: "PAYLOAD"}, as)
	case tPay:
		return c.do(ctx, http.MethodGet, "TinkoffPay/transactions/"+url.PathEscape(id)+"/versions/2.0/link", as)
	default:
		return c.do(ctx, http.MethodGet, "SberPay/transactions/"+url.PathEscape(id)+"/link", as)
	}
}

// linkAnswer has the links of the three methods. The members have other forms in the answers of other methods.
type linkAnswer struct {
	Data   string `json:"Data"`
	Params struct {
		RedirectURL string `json:"RedirectUrl"`
		WebQR       string `json:"WebQR"`
	} `json:"Params"`
}

func (l linkAnswer) url() string { return cmp.Or(l.Data, l.Params.RedirectURL) }

// nextIn returns the link, which a telephone opens. A QR code for other devices has the link of the SBP as its text. For
// T-Pay the bank returns the address of a QR code.
func nextIn(ch gateway.Charge, l linkAnswer) *payment.NextAction {
	data := map[string]string{"type": ch.Token}
	next := &payment.NextAction{Type: payment.ActionDisplay, URL: l.url(), ExpiresAt: expiry(ch.ProviderData[dueDate])}
	switch {
	case ch.Token == sbp:
		data["qr"] = l.Data
	case l.Params.WebQR != "":
		data["qr_url"] = l.Params.WebQR
	}
	next.Data, _ = json.Marshal(data) //nolint:errchkjson // texts always marshal
	return next
}

const dueDate = "RedirectDueDate"

// expiry returns the zero time for any text that is not a time.
func expiry(due json.RawMessage) time.Time {
	var text string
	_ = json.Unmarshal(due, &text)
	at, _ := time.Parse(time.RFC3339, text)
	return at.UTC()
}
