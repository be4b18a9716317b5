package adyen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/adyen"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

const (
	adyenKey      = "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff"
	adyenOtherKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

func newVerifier(tb testing.TB, keys ...string) *adyen.Verifier {
	tb.Helper()
	if len(keys) == 0 {
		keys = []string{adyenKey}
	}
	v, err := adyen.New(webhooks.Config{Secrets: keys})
	require.NoError(tb, err)
	return v
}

// adyenItem returns an item with these further members, before which the usual ones stand.
func adyenItem(code, success, members string) string {
	return fmt.Sprintf(`{"NotificationRequestItem":{"pspReference":"PSP1","merchantAccountCode":"Shop","merchantReference":"att_1",`+
		`"amount":{"value":1999,"currency":"EUR"},"eventCode":%q,"success":%q,"eventDate":"2026-03-14T16:09:20+01:00"%s}}`,
		code, success, members)
}

// adyenBody returns a standard webhook of items.
func adyenBody(items ...string) string {
	return `{"live":"false","notificationItems":[` + strings.Join(items, ",") + `]}`
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "PSP2:CAPTURE:true", IDSource: webhooks.Derived, Type: "CAPTURE", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "PSP1", "PSP2"}, ProviderPaymentID: "PSP1", MovementID: "PSP2", CaptureReference: "att_1", Payee: "Shop",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}, providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("CAPTURE", "true", `,"pspReference":"PSP2","originalReference":"PSP1"`))))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	const (
		session = `,"additionalData":{"checkoutSessionId":"CS1"}`
		link    = `,"additionalData":{"paymentLinkId":"PL1"}`
	)
	for name, test := range map[string]struct {
		code, success, members string
		kind                   webhooks.Kind
		failure                string
	}{
		"authorised":                  {"AUTHORISATION", "true", "", webhooks.KindAuthorized, ""},
		"refused":                     {"AUTHORISATION", "false", `,"reason":"Refused"`, webhooks.KindFailed, "card_declined"},
		"refused, unknown reason":     {"AUTHORISATION", "false", `,"reason":"?"`, webhooks.KindFailed, "provider_rejected"},
		"refused, may try again":      {"AUTHORISATION", "false", session + `,"reason":"Not enough balance"`, webhooks.KindFailed, "insufficient_funds"},
		"refused on a link":           {"AUTHORISATION", "false", link, webhooks.KindFailed, "provider_rejected"},
		"authorised in a session":     {"AUTHORISATION", "true", session, webhooks.KindAuthorized, ""},
		"pending":                     {"PENDING", "true", "", webhooks.KindProcessing, ""},
		"not even pending":            {"PENDING", "false", "", webhooks.KindProcessing, ""},
		"captured":                    {"CAPTURE", "true", "", webhooks.KindSucceeded, ""},
		"capture failed later":        {"CAPTURE_FAILED", "true", "", webhooks.KindReversed, ""},
		"capture failed, failed":      {"CAPTURE_FAILED", "false", "", webhooks.KindReversed, ""},
		"cancelled":                   {"CANCELLATION", "true", "", webhooks.KindFailed, "canceled"},
		"cancelled without reference": {"TECHNICAL_CANCEL", "true", "", webhooks.KindFailed, "canceled"},
		"expired":                     {"EXPIRE", "true", "", webhooks.KindFailed, "expired"},
		"never paid":                  {"OFFER_CLOSED", "true", "", webhooks.KindFailed, "expired"},
		"not cancelled":               {"TECHNICAL_CANCEL", "false", "", webhooks.KindIgnored, ""},
		"not expired":                 {"EXPIRE", "false", "", webhooks.KindIgnored, ""},
		"not closed":                  {"OFFER_CLOSED", "false", "", webhooks.KindIgnored, ""},
		"cancelled or refunded":       {"CANCEL_OR_REFUND", "true", "", webhooks.KindReversed, ""},
		"neither":                     {"CANCEL_OR_REFUND", "false", "", webhooks.KindIgnored, ""},
		"refunded":                    {"REFUND", "true", "", webhooks.KindRefundSucceeded, ""},
		"not refunded":                {"REFUND", "false", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refund failed later":         {"REFUND_FAILED", "true", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refund came back":            {"REFUNDED_REVERSED", "true", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refund came back, failed":    {"REFUNDED_REVERSED", "false", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refund failed, failed":       {"REFUND_FAILED", "false", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refund waits":                {"POSTPONED_REFUND", "true", "", webhooks.KindRefundPending, ""},
		"refund waits no longer":      {"POSTPONED_REFUND", "false", "", webhooks.KindRefundFailed, "provider_rejected"},
		"refunded without reference":  {"REFUND_WITH_DATA", "true", "", webhooks.KindRefundSucceeded, ""},
		"not refunded to a card":      {"REFUND_WITH_DATA", "false", "", webhooks.KindRefundFailed, "provider_rejected"},
		"dispute opened":              {"NOTIFICATION_OF_CHARGEBACK", "true", "", webhooks.KindDisputed, ""},
		"chargeback":                  {"CHARGEBACK", "true", "", webhooks.KindChargeback, ""},
		"dispute opened, no success":  {"NOTIFICATION_OF_CHARGEBACK", "false", "", webhooks.KindDisputed, ""},
		"chargeback, no success":      {"CHARGEBACK", "false", "", webhooks.KindDisputed, ""},
		"asked for papers":            {"REQUEST_FOR_INFORMATION", "true", "", webhooks.KindDisputed, ""},
		"papers, no success":          {"REQUEST_FOR_INFORMATION", "false", "", webhooks.KindDisputed, ""},
		"no defense any more":         {"DISPUTE_DEFENSE_PERIOD_ENDED", "true", "", webhooks.KindDisputed, ""},
		"some defense":                {"DISPUTE_DEFENSE_PERIOD_ENDED", "false", "", webhooks.KindIgnored, ""},
		"no second chargeback":        {"SECOND_CHARGEBACK", "false", "", webhooks.KindIgnored, ""},
		"pre-arbitration not lost":    {"PREARBITRATION_LOST", "false", "", webhooks.KindIgnored, ""},
		"chargeback won":              {"CHARGEBACK_REVERSED", "true", "", webhooks.KindChargebackReversed, ""},
		"second chargeback":           {"SECOND_CHARGEBACK", "true", "", webhooks.KindChargeback, ""},
		"pre-arbitration lost":        {"PREARBITRATION_LOST", "true", "", webhooks.KindChargeback, ""},
		"pre-arbitration won":         {"PREARBITRATION_WON", "true", "", webhooks.KindChargebackReversed, ""},
		"pre-arbitration not won":     {"PREARBITRATION_WON", "false", "", webhooks.KindIgnored, ""},
		"report":                      {"REPORT_AVAILABLE", "true", "", webhooks.KindIgnored, ""},
		"unknown":                     {"SOMETHING_NEW", "true", `,"amount":{"value":"ten"}`, webhooks.KindIgnored, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem(test.code, test.success, test.members)))
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.failure, string(e.FailureCode))
			require.Equal(t, test.success == "false" && test.members != "" && !strings.Contains(test.members, `"reason":"Refused"`) && !strings.Contains(test.members, `"?"`), e.PageOpen)
			require.Equal(t, test.code, e.Type)
			require.Equal(t, test.kind == webhooks.KindIgnored, e.Money == nil)
		})
	}
}

// TestCaptureThatIsNotAcceptedLeavesTheMoneyHeld: the payment has not failed, and the amount is not the held amount.
func TestCaptureThatIsNotAcceptedLeavesTheMoneyHeld(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("CAPTURE", "false", `,"reason":"Insufficient balance on payment"`)))
	require.Equal(t, webhooks.KindAuthorized, e.Kind)
	require.Equal(t, webhooks.CommandCapture, e.Refuses)
	require.Nil(t, e.Money)
}

func TestCancellationThatIsNotCarriedOutSaysSo(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("CANCELLATION", "false", "")))
	require.Equal(t, webhooks.KindProcessing, e.Kind)
	require.Equal(t, webhooks.CommandCancel, e.Refuses)
	require.Nil(t, e.Money)
}

// TestSuccessThatIsNeitherYesNorNoEndsNothing: only the two texts, which a boolean is signed as, say how it went.
func TestSuccessThatIsNeitherYesNorNoEndsNothing(t *testing.T) {
	t.Parallel()
	for code, kind := range map[string]webhooks.Kind{
		"AUTHORISATION": webhooks.KindProcessing, "CAPTURE": webhooks.KindProcessing, "CAPTURE_FAILED": webhooks.KindProcessing,
		"CANCELLATION": webhooks.KindProcessing, "TECHNICAL_CANCEL": webhooks.KindProcessing, "EXPIRE": webhooks.KindProcessing,
		"OFFER_CLOSED": webhooks.KindProcessing, "PENDING": webhooks.KindProcessing, "SECOND_CHARGEBACK": webhooks.KindProcessing,
		"REFUND": webhooks.KindRefundPending, "REFUND_FAILED": webhooks.KindRefundPending, "POSTPONED_REFUND": webhooks.KindRefundPending,
		"CANCEL_OR_REFUND": webhooks.KindProcessing, "CHARGEBACK": webhooks.KindDisputed, "SOMETHING_NEW": webhooks.KindIgnored,
	} {
		for _, success := range []string{`"TRUE"`, `"False"`, `""`, `"yes"`, `null`, `1`} {
			e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem(code, "true", `,"additionalData":{"checkoutSessionId":"CS1"},"success":`+success)))
			require.Equal(t, kind, e.Kind, "%s with success %s", code, success)
			require.Empty(t, e.Refuses, "%s with success %s", code, success)
			require.Empty(t, e.FailureCode, "%s with success %s", code, success)
		}
		absent := strings.Replace(adyenItem(code, "true", ""), `"success":"true",`, "", 1)
		require.Equal(t, kind, providertest.Parsed(t, newVerifier(t), adyenBody(absent)).Kind, code)
	}
	for success, kind := range map[string]webhooks.Kind{"true": webhooks.KindAuthorized, "false": webhooks.KindFailed} {
		e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("AUTHORISATION", "", `,"success":`+success)))
		require.Equal(t, kind, e.Kind)
		require.Equal(t, "PSP1:AUTHORISATION:"+success, e.ID)
	}
}

// TestUnsignedActionDecidesNothing: whether CANCEL_OR_REFUND released the money or paid it back is not signed.
func TestUnsignedActionDecidesNothing(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, success := range []string{"true", "false"} {
		want := providertest.Parsed(t, v, adyenBody(adyenItem("CANCEL_OR_REFUND", success, "")))
		for _, action := range []string{"cancel", "refund", "other"} {
			body := adyenBody(adyenItem("CANCEL_OR_REFUND", success, `,"additionalData":{"modification.action":"`+action+`"}`))
			require.Equal(t, want, providertest.Parsed(t, v, body), action)
		}
	}
}

func TestAutomaticCapture(t *testing.T) {
	t.Parallel()
	v, err := adyen.New(webhooks.Config{Secrets: []string{adyenKey}, Params: map[string]string{"capture": "automatic"}})
	require.NoError(t, err)
	require.Equal(t, webhooks.KindSucceeded, providertest.Parsed(t, v, adyenBody(adyenItem("AUTHORISATION", "true", ""))).Kind)
	require.Equal(t, webhooks.KindFailed, providertest.Parsed(t, v, adyenBody(adyenItem("AUTHORISATION", "false", ""))).Kind)
}

func TestRefundIsKnownByItsOwnReference(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("REFUND", "true", `,"pspReference":"R1","originalReference":"PSP1"`)))
	require.Equal(t, "R1", e.RefundID)
	require.Equal(t, "PSP1", e.ProviderPaymentID)
	require.Equal(t, []string{"att_1", "PSP1"}, e.References)
}

func TestExponents(t *testing.T) {
	t.Parallel()
	for currency, minor := range map[string]int64{
		"EUR": 1900, "JPY": 1900, "KWD": 1900,
		"CLP": 19, "ISK": 19, "CVE": 190000, "IDR": 190000,
	} {
		e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem("CAPTURE", "true", `,"amount":{"value":1900,"currency":"`+currency+`"}`)))
		require.Equal(t, minor, e.Money.Minor, currency)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	old, fresh := newVerifier(t, adyenOtherKey), newVerifier(t, adyenKey)
	one := providertest.Signed(t, old, adyenBody(adyenItem("AUTHORISATION", "true", "")))
	two := providertest.Signed(t, fresh, adyenBody(adyenItem("CAPTURE", "true", `,"pspReference":"PSP2"`)))
	both := providertest.Unsigned(adyenBody(adyenFirst(t, one), adyenFirst(t, two)))
	events, err := newVerifier(t, adyenKey, adyenOtherKey).Verify(t.Context(), both)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, []webhooks.Kind{webhooks.KindAuthorized, webhooks.KindSucceeded}, []webhooks.Kind{events[0].Kind, events[1].Kind})
	require.Equal(t, []int{1, 0}, []int{events[0].SecretIndex, events[1].SecretIndex}, "each item by its own key")

	require.ErrorIs(t, providertest.Refused(t, fresh, both), webhooks.ErrSignatureInvalid, "one forged item spoils all")
}

// adyenFirst returns the first item of a delivery.
func adyenFirst(t *testing.T, d webhooks.Delivery) string {
	t.Helper()
	var body struct {
		Items []json.RawMessage `json:"notificationItems"`
	}
	require.NoError(t, json.Unmarshal(d.Body, &body))
	return string(body.Items[0])
}

// TestUnknownEventCodeNeedsItsSignatureToo: an official library skips the check for event codes that are not on
// its list.
func TestUnknownEventCodeNeedsItsSignatureToo(t *testing.T) {
	t.Parallel()
	d := providertest.Unsigned(adyenBody(adyenItem("SOMETHING_NEW", "true", "")))
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t), d), webhooks.ErrSignatureMissing)
}

// TestSignsNoItemThatIsNone: an item that is null has no place for a signature.
func TestSignsNoItemThatIsNone(t *testing.T) {
	t.Parallel()
	d := providertest.Unsigned(adyenBody(adyenItem("CAPTURE", "true", ""), "null"))
	require.ErrorIs(t, newVerifier(t).Sign(&d), webhooks.ErrPayload)
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := string(providertest.Signed(t, v, adyenBody(adyenItem("AUTHORISATION", "true", ""))).Body)
	for name, test := range map[string]struct {
		body string
		want error
	}{
		"no items":            {adyenBody(), webhooks.ErrSignatureMissing},
		"items are null":      {`{"notificationItems":null}`, webhooks.ErrSignatureMissing},
		"items are text":      {`{"notificationItems":"x"}`, webhooks.ErrSignatureMalformed},
		"an item is empty":    {`{"notificationItems":[{}]}`, webhooks.ErrSignatureMissing},
		"an item is null":     {`{"notificationItems":[null]}`, webhooks.ErrSignatureMissing},
		"a field is a list":   {strings.Replace(good, `"PSP1"`, `["PSP1"]`, 1), webhooks.ErrSignatureMalformed},
		"not UTF-8":           {strings.Replace(good, `att_1`, "att\xff1", 1), webhooks.ErrSignatureMalformed},
		"moved colon":         {strings.Replace(good, `"Shop"`, `"Shop:att_1"`, 1), webhooks.ErrSignatureMalformed},
		"other amount":        {strings.Replace(good, `1999`, `1998`, 1), webhooks.ErrSignatureInvalid},
		"other event":         {strings.Replace(good, `AUTHORISATION`, `CAPTURE`, 1), webhooks.ErrSignatureInvalid},
		"not JSON":            {`hello`, webhooks.ErrSignatureMissing},
		"empty":               {``, webhooks.ErrSignatureMissing},
		"signature of a list": {strings.Replace(good, `"hmacSignature":`, `"hmacSignature":["x"],"x":`, 1), webhooks.ErrSignatureMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, providertest.Refused(t, v, providertest.Unsigned(test.body)), test.want)
		})
	}
	for name, item := range map[string]string{
		"no reference":  adyenItem("CAPTURE", "true", `,"pspReference":""`),
		"not an amount": adyenItem("CAPTURE", "true", `,"amount":{"value":"19.99","currency":"EUR"}`),
		"negative":      adyenItem("CAPTURE", "true", `,"amount":{"value":-1,"currency":"EUR"}`),
	} {
		require.Equal(t, "CAPTURE", providertest.RequireUnreadable(t, v, providertest.Signed(t, v, adyenBody(item))).Type, name)
	}
}

// TestUnreadableItem: an item that can't be read is in the way of no other.
func TestUnreadableItem(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, adyenBody(
		adyenItem("CAPTURE", "true", ""), adyenItem("CAPTURE", "true", `,"amount":{"value":1,"currency":"XYZ"}`), adyenItem("REFUND", "true", ""),
	))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 3)
	for place, kind := range []webhooks.Kind{webhooks.KindSucceeded, webhooks.KindUnreadable, webhooks.KindRefundSucceeded} {
		providertest.RequireSound(t, events[place])
		require.Equal(t, kind, events[place].Kind)
	}
	require.Equal(t, 1, events[1].Place)
	require.Equal(t, events[1].ID, v.Read(d)[1].ID)
}

func TestNotices(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	e := providertest.Parsed(t, v, `{"type":"recurring.token.created","environment":"test","eventId":"E1","createdAt":"2026-03-14T15:09:20Z","data":{}}`)
	require.Equal(t, webhooks.Event{
		ID: "E1", IDSource: webhooks.Native, Type: "recurring.token.created", Kind: webhooks.KindIgnored,
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}, e)
	e = providertest.Parsed(t, v, `{"type":"x","timestamp":"2026-03-14T15:09:20Z","environment":"live","data":{"holder":{"id":"AH1"}}}`)
	require.Equal(t, "x:2026-03-14T15%3A09%3A20Z:AH1", e.ID)
	require.Equal(t, webhooks.Derived, e.IDSource)
	providertest.RequireUnreadable(t, v, providertest.Signed(t, v, `[]`))

	d := providertest.Signed(t, v, `{"type":"x"}`)
	d.Header = http.Header{"hmacSignature": {"AAAA", d.Header.Get("hmacSignature")}}
	_, err := v.Verify(t.Context(), d)
	require.NoError(t, err, "the header may come twice")
}

func TestLogin(t *testing.T) {
	t.Parallel()
	v, err := adyen.New(webhooks.Config{
		Secrets: []string{adyenKey},
		Params:  map[string]string{"basic_auth.user": "shop", "basic_auth.password": "secret"},
	})
	require.NoError(t, err)
	body := adyenBody(adyenItem("AUTHORISATION", "true", ""))
	d := providertest.Signed(t, v, body)
	user, password, _ := (&http.Request{Header: d.Header}).BasicAuth()
	require.Equal(t, []string{"shop", "secret"}, []string{user, password})
	providertest.Parsed(t, v, body)
	d.Header.Set("Authorization", "Basic c2hvcDpTZWNyZXQ=")
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid)
	d.Header.Del("Authorization")
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureMissing)
	require.ErrorIs(t, providertest.Refused(t, v, providertest.Signed(t, newVerifier(t), body)), webhooks.ErrSignatureMissing)
	for _, half := range []string{"basic_auth.user", "basic_auth.password"} {
		v, err := adyen.New(webhooks.Config{Secrets: []string{adyenKey}, Params: map[string]string{half: "shop"}})
		require.NoError(t, err)
		require.ErrorIs(t, providertest.Refused(t, v, providertest.Signed(t, newVerifier(t), body)), webhooks.ErrSignatureMissing, half)
	}
}

// TestSignedTextHasOneReading: a colon in the merchant's own reference moves nothing into another field.
func TestSignedTextHasOneReading(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := string(providertest.Signed(t, v, adyenBody(adyenItem("AUTHORISATION", "true", ""))).Body)
	for _, field := range []string{"pspReference", "originalReference", "merchantAccountCode", "value", "currency", "eventCode", "success"} {
		other := regexp.MustCompile(`"`+field+`":"?[^",}]*"?`).ReplaceAllString(good, `"`+field+`":"a:b"`)
		if other == good {
			other = strings.Replace(good, `"pspReference"`, `"`+field+`":"a:b","pspReference"`, 1)
		}
		require.ErrorIs(t, providertest.Refused(t, v, providertest.Unsigned(other)), webhooks.ErrSignatureMalformed, field)
	}
	providertest.Parsed(t, v, adyenBody(strings.Replace(adyenItem("AUTHORISATION", "true", ""), "att_1", "a:b", 1)))
}

func TestWithoutAWordOfItIsNeitherLiveNorATest(t *testing.T) {
	t.Parallel()
	for live, want := range map[string]webhooks.Mode{`"live":"false",`: webhooks.ModeTest, `"live":"true",`: webhooks.ModeLive, `"live":"maybe",`: "", "": ""} {
		e := providertest.Parsed(t, newVerifier(t), strings.Replace(adyenBody(adyenItem("CAPTURE", "true", "")), `"live":"false",`, live, 1))
		require.Equal(t, want, e.Mode, live)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{nil, {""}, {"not hexadecimal"}, {adyenKey, "0"}} {
		_, err := adyen.New(webhooks.Config{Secrets: keys})
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
	ack := newVerifier(t).Ack(webhooks.Delivery{}, nil)
	require.Equal(t, "[accepted]", string(ack.Body))
	require.Equal(t, http.StatusOK, ack.Status)
}

func ExampleVerifier_Verify() {
	adyen, err := adyen.New(webhooks.Config{Secrets: []string{"00112233445566778899aabbccddeeff"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"live":"true","notificationItems":[{"NotificationRequestItem":{` +
		`"pspReference":"PSP1","merchantAccountCode":"Shop","merchantReference":"att_1","amount":{"value":1900,"currency":"CLP"},` +
		`"eventCode":"AUTHORISATION","success":"true"}}]}`)}
	if err := adyen.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := adyen.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.ID, e.Kind, e.References, *e.Money)
	}
	fmt.Println(string(adyen.Ack(d, events).Body))
	// Output:
	// <nil>
	// PSP1:AUTHORISATION:true authorized [att_1 PSP1] {19 CLP}
	// [accepted]
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		adyenBody(adyenItem("AUTHORISATION", "true", ""), adyenItem("REFUND", "false", `,"merchantReference":"a:b"`)),
		adyenBody(adyenItem("CANCEL_OR_REFUND", "true", `,"additionalData":{"modification.action":"refund"}`)),
		adyenBody(adyenItem("CAPTURE", "false", `,"merchantReference":":a\\:"`)),
		`{"type":"x","data":{"a":{"id":"b"}}}`, `{"notificationItems":[{"NotificationRequestItem":null}]}`, `[`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Unsigned(string(body))
		if v.Sign(&d) != nil {
			providertest.Refused(t, v, d)
			return
		}
		if bytes.ContainsRune(body, ':') && errors.Is(providertest.Verified(t, v, d), webhooks.ErrSignatureMalformed) {
			return // a colon where there must not be one
		}
		providertest.Parse(t, v, d)
		providertest.Same(t, v, d, place, mask, func(e *webhooks.Event) {
			// not signed, or decided by a field that is not signed
			e.OccurredAt, e.Mode, e.FailureCode, e.ProviderCode = time.Time{}, "", "", ""
			if e.Kind == webhooks.KindSoftFailed {
				e.Kind = webhooks.KindFailed
			}
		})
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, adyen.FailureCode, map[string]string{
		"card_declined":      "Refused|Blocked Card|Expired Card|Invalid Card Number|CVC Declined|Restricted Card|Transaction Not Permitted|DECLINED Non Generic",
		"insufficient_funds": "Not enough balance|Withdrawal amount exceeded", "authentication_failed": "3D Not Authenticated|Authentication required",
		"fraud_suspected": "FRAUD|FRAUD-CANCELLED|Acquirer Fraud|Issuer Suspected Fraud", "canceled": "Cancelled|Shopper Cancelled", "provider_rejected": "|New",
	})
}
