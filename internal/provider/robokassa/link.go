package robokassa

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// page is the token that offers all methods on Robokassa's page. Any other token is the label of a method, such as
	// BankCard, with which the page opens.
	page = "redirect"
	// mark is the shop's own parameter that names the attempt in notifications and lookups.
	mark = "Shp_payment_attempt_id"
	// maxDescription is a number of characters.
	maxDescription = 100
	// linkLife is our limit for the time that a link can be paid after the attempt began, unless provider_data sets
	// another end. Robokassa does not document how long a link without an end can be paid.
	linkLife = 24 * time.Hour
)

// Charge implements gateway.Provider (https://docs.robokassa.ru/ru/pay-interface). It makes no call: the customer's
// browser opens the signed link at Robokassa.
func (c *Client) Charge(_ context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Stored {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, gateway.ErrUnsupported)
	}
	form, err := c.link(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if err := ch.Permit.Check(); err != nil {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
	}
	return gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: form.Get("InvId"), NextAction: c.opens(form)}, nil
}

// invoice returns the InvId of an attempt, calculated from its id: a number from 1 to 9223372036854775807
// (https://docs.robokassa.ru/ru/pay-interface, "InvId").
func invoice(id payment.AttemptID) string {
	sum := sha256.Sum256(id[:])
	return strconv.FormatUint(max(binary.BigEndian.Uint64(sum[:8])>>1, 1), 10)
}

// link returns the parameters of a payment's page, including their signature.
func (c *Client) link(ch gateway.Charge) (url.Values, error) {
	sum, err := c.sum(ch.Money)
	if err != nil {
		return nil, err
	}
	receipt, err := c.receiptOf(gateway.ReceiptOf(ch.Details))
	if err != nil {
		return nil, err
	}
	form := url.Values{
		"MerchantLogin": {c.shop.Login}, "OutSum": {sum}, "InvId": {invoice(ch.Attempt)}, "Encoding": {"utf-8"}, mark: {ch.Attempt.String()},
		"Description": {kit.Short(string(ch.Order), maxDescription)},
	}
	add(form, "Culture", language(ch.Customer.Locale))
	add(form, "ExpirationDate", ends(ch.Attempt))
	if ch.Token != page {
		form.Set("IncCurrLabel", ch.Token)
	}
	if c.shop.Test {
		form.Set("IsTest", "1")
	}
	for _, name := range allowed() {
		add(form, name, text(ch.ProviderData[name]))
	}
	signed := []string{c.shop.Login, sum, form.Get("InvId")}
	if receipt != "" {
		add(form, "Email", ch.Customer.Email)
		form.Set("Receipt", receipt)
		signed = append(signed, receipt)
	}
	if ch.Capture == payment.CaptureManual {
		form.Set("StepByStep", "true")
		signed = append(signed, "true")
	}
	signed = append(signed, returns(form, ch.ReturnURL)...)
	form.Set("SignatureValue", c.sign(append(signed, c.shop.Password1, mark+"="+ch.Attempt.String())...))
	return form, nil
}

// returns adds the customer's return address in the place of the shop's addresses, and returns the values to sign
// (https://docs.robokassa.ru/ru/pay-interface, "SuccessUrl2").
func returns(form url.Values, address string) []string {
	if address == "" {
		return nil
	}
	var signed []string
	for _, name := range []string{"SuccessUrl2", "FailUrl2"} {
		form.Set(name, address)
		form.Set(name+"Method", "GET")
		signed = append(signed, address, "GET")
	}
	return signed
}

// opens returns the action that opens the page: a link, or a form if there is a receipt, because a receipt may be too
// long for a link (https://docs.robokassa.ru/ru/fiscalization).
func (c *Client) opens(form url.Values) *payment.NextAction {
	to := c.base + "/Merchant/Index.aspx"
	if !form.Has("Receipt") {
		return payment.Redirect(to + "?" + form.Encode())
	}
	fields := make(map[string]string, len(form))
	for name := range form {
		fields[name] = form.Get(name)
	}
	return &payment.NextAction{Type: payment.ActionPostForm, URL: to, Fields: fields}
}

func add(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// text returns a string member of provider_data, or "".
func text(raw json.RawMessage) string {
	var value string
	_ = json.Unmarshal(raw, &value) // "" if the member is missing
	return value
}

// language returns the language of the page, ru or en. It is empty for any other language.
func language(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if first == "ru" || first == "en" {
		return first
	}
	return ""
}

// ends returns the ExpirationDate of an attempt's link. After this date, Robokassa does not accept the payment
// (OrderParams.kt of github.com/robokassa/sdk-android). It is calculated from the time in the attempt's id, so it is
// always the same. It is empty for an id without a time. The signature does not cover it
// (https://docs.robokassa.ru/script-parameters/), so a customer can remove it from the link.
func ends(id payment.AttemptID) string {
	if uuid.UUID(id).Version() != 7 {
		return ""
	}
	began := time.Unix(uuid.UUID(id).Time().UnixTime())
	return began.Add(linkLife).In(time.FixedZone("", 3*60*60)).Format("2006-01-02T15:04:05.0000000-07:00")
}
