package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

const fullCustomer = `{"reference":"c-7","email":"jane@shop.example","name":"Jane Doe","phone":"+4930901820","ip":"203.0.113.9","locale":"de-DE",
	"billing_address":{"line1":"Street 1","line2":"","city":"Berlin","postal_code":"10115","state":"BE","country":"DE"},"shipping_address":null}`

const fullLines = `[{"description":"Ticket","quantity":"2","unit_amount":999,"amount":1998,"tax_rate":"0.19","tax_amount":319,"sku":"T","type":"digital",
	"receipt":{"vat_code":1,"payment_subject":"service","payment_mode":"full_payment","measure":"piece"}},
	{"description":"Rounding","quantity":"1","unit_amount":1,"amount":1}]`

const fullPay = `{"account":"adyen-eu","payment_method":{"token":"t","type":"card","stored":false},"return_url":"https://shop.example/back","save_payment_method":true,
	"initiator":"customer","statement_descriptor":"SHOP A-1","customer":` + fullCustomer + `,
	"browser":{"user_agent":"M","accept_header":"text/html","language":"de","color_depth":24,"screen_height":900,"screen_width":1440,"time_zone_offset":-60,"java_enabled":true},
	"lines":` + fullLines + `,"provider_data":{"risk":{"score":1.50}}}`

// Each member of the contract reaches the command under the same name.
func TestWhatAPayCarries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	require.Equal(t, http.StatusCreated, b.command("/v1/orders/A-1/pay", fullPay).StatusCode)
	d := b.payments.pays.Details
	same := func(want string, got any) {
		t.Helper()
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	withoutEmpty := strings.NewReplacer(`"line2":"",`, "", `,"shipping_address":null`, "").Replace(fullCustomer)
	same(withoutEmpty, d.Customer)
	same(fullLines, d.Lines)
	same(`{"user_agent":"M","accept_header":"text/html","language":"de","color_depth":24,"screen_height":900,"screen_width":1440,"time_zone_offset":-60,"java_enabled":true}`, d.Browser)
	same(`{"risk":{"score":1.50}}`, d.ProviderData)
	require.Equal(t, []any{"t", "card", false, true, false, "SHOP A-1", "https://shop.example/back"},
		[]any{d.Token, d.MethodType, d.Stored, d.Save, d.Unattended, d.StatementDescriptor, d.ReturnURL})

	b.payments.result = idempotency.Created
	require.Equal(t, http.StatusCreated, b.command("/v1/orders", `{"amount":1999,"currency":"EUR","lines":`+fullLines+`,"customer":`+fullCustomer+`}`).StatusCode)
	same(fullLines, b.payments.created.Lines)
	same(withoutEmpty, b.payments.created.Customer)
}

func TestMembersOfAPayAreChecked(t *testing.T) {
	t.Parallel()
	for field, change := range map[string][2]string{
		"initiator":                        {`"customer","statement`, `"nobody","statement`},
		"statement_descriptor":             {"SHOP A-1", "SHOP with a name that is long"},
		"customer.email":                   {"jane@shop.example", "jane"},
		"customer.phone":                   {"+4930901820", "030901820"},
		"customer.ip":                      {"203.0.113.9", "203.0.113"},
		"customer.locale":                  {`"de-DE"`, `"German!"`},
		"customer.billing_address.country": {`"DE"`, `"DEU"`},
		"browser.time_zone_offset":         {"-60", "-6000"},
		"lines.0.quantity":                 {`"quantity":"2"`, `"quantity":"2e1"`},
		"lines.1.quantity":                 {`"Rounding","quantity":"1"`, `"Rounding","quantity":"0.000"`},
		"lines.0.tax_rate":                 {`"0.19"`, `"19"`},
		"lines.0.type":                     {`"digital"`, `"thing"`},
		"lines.0.receipt.vat_code":         {`"vat_code":1`, `"vat_code":99`},
		"provider_data":                    {`"score":1.50`, `"score":"` + strings.Repeat("x", 16<<10) + `"`},
	} {
		b := newBench(t)
		got := b.command("/v1/orders/A-1/pay", strings.Replace(fullPay, change[0], change[1], 1))
		p := got.is(t, 422, "validation-failed")
		require.Equal(t, field, p.Errors[0].Field)
		require.Zero(t, b.payments.calls)
	}
	for member, text := range map[string]string{
		"customer.name": `{"name":"4111 1111 1111 1111"}`, "customer.phone": `{"phone":"4111111111111111"}`,
	} {
		p := newBench(t).command("/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"customer":`+text+`}`).is(t, 422, "card-number-refused")
		require.Equal(t, member, p.Errors[0].Field)
	}
	p := newBench(t).command("/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"provider_data":{"a":{"number":"4111111111111111"}}}`).is(t, 422, "card-number-refused")
	require.Equal(t, "provider_data.a.number", p.Errors[0].Field)
}

// A telephone number has as many digits as a card's, and one in ten passes Luhn's check.
func TestATelephoneNumberIsNoCardNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	got := b.command("/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"customer":{"phone":"+4111111111111111"}}`)
	got.is(t, 422, "card-number-refused")
	got = b.command("/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"customer":{"phone":"+491511234567800"}}`)
	require.Equal(t, http.StatusCreated, got.StatusCode, string(got.text))
}

func TestComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: succeeded()}, Result: idempotency.Created}
	path := "/v1/payment-attempts/" + attemptID.String() + "/complete"
	got := b.command(path, `{"details":{"redirectResult":"X","n":1.0}}`)
	require.Equal(t, http.StatusOK, got.StatusCode, string(got.text))
	require.Equal(t, "succeeded", got.object(t)["status"])
	require.Equal(t, attemptID, b.payments.completes.AttemptID)
	require.JSONEq(t, `{"redirectResult":"X","n":1.0}`, string(b.payments.completes.Details))
	got = b.command(path, `{"details":{"x":"`+strings.Repeat("&<>", 5000)+`"}}`)
	require.Equal(t, http.StatusOK, got.StatusCode, "the limit counts bytes as they came")
	for body, field := range map[string]string{
		`{}`: "details", `{"details":[]}`: "details", `{"details":{"x":"` + strings.Repeat("x", 16<<10) + `"}}`: "details",
	} {
		require.Equal(t, field, b.command(path, body).is(t, 422, "validation-failed").Errors[0].Field)
	}
	b.payments.err = payment.ErrNotCompletable
	b.command(path, `{"details":{}}`).is(t, 409, "attempt-not-completable")
}

func TestNextActions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		action *payment.NextAction
		want   string
	}{
		{&payment.NextAction{Type: payment.ActionPostForm, URL: "https://acs.example/", Fields: map[string]string{"MD": "1"}}, `{"type":"post_form","url":"https://acs.example/","fields":{"MD":"1"}}`},
		{&payment.NextAction{Type: payment.ActionSDK, Data: json.RawMessage(`{"client_secret":"s"}`)}, `{"type":"sdk","data":{"client_secret":"s"}}`},
		{
			&payment.NextAction{Type: payment.ActionDisplay, Data: json.RawMessage(`{"code":"1"}`), ExpiresAt: now},
			`{"type":"display","data":{"code":"1"},"expires_at":"` + now.UTC().Format("2006-01-02T15:04:05.000000Z") + `"}`,
		},
	} {
		b := newBench(t)
		a := pending()
		a.NextAction = c.action
		b.payments.view = payment.View{Attempt: a}
		got := b.send(http.MethodGet, "/v1/payment-attempts/"+attemptID.String(), "")
		text, err := json.Marshal(got.object(t)["next_action"])
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(text))
	}
}

// A customer may send lines with a pay, without receipts: these are a service's.
func TestLinesOfACustomer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: "created"}
	pay := func(receipt string) answer {
		return b.command("/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"lines":[{"description":"Ticket","quantity":"1","unit_amount":1999,"amount":1999`+receipt+`}]}`,
			"Authorization: Bearer u1", "On-Behalf-Of: -")
	}
	require.Equal(t, http.StatusCreated, pay("").StatusCode)
	require.Equal(t, "Ticket", b.payments.pays.Lines[0].Description)
	p := pay(`,"receipt":{"vat_code":1}`).is(t, 403, "forbidden")
	require.Contains(t, p.Errors[0].Field, "receipt")
}
