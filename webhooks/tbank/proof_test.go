package tbank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/tbank"
)

func newVerifier(tb testing.TB, passwords ...string) *tbank.Verifier {
	tb.Helper()
	if len(passwords) == 0 {
		passwords = []string{"paylatch-tests-only"}
	}
	v, err := tbank.New(webhooks.Config{Secrets: passwords})
	require.NoError(tb, err)
	return v
}

// tbankBody returns a notification of a status with these further members.
func tbankBody(status, members string) string {
	return fmt.Sprintf(`{"TerminalKey":"1DEMO","OrderId":"att_1","Success":true,"Status":%q,"PaymentId":13660123456789012345,`+
		`"ErrorCode":"0","Amount":1999%s}`, status, members)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "13660123456789012345:CONFIRMED:1999", IDSource: webhooks.Derived, Type: "CONFIRMED", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "13660123456789012345"}, ProviderPaymentID: "13660123456789012345",
		Money: &webhooks.Money{Minor: 1999, Currency: "RUB"}, Mode: webhooks.ModeTest, Payee: "1DEMO", BrowserMark: true,
	}, providertest.Parsed(t, newVerifier(t), tbankBody("CONFIRMED", `,"DATA":{"payment_attempt_id":"att_2"},"Receipt":null`)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status, members string
		kind            webhooks.Kind
		failure         string
		fetch           bool
	}{
		"new":                      {"NEW", "", webhooks.KindProcessing, "", false},
		"page shown":               {"FORM_SHOWED", "", webhooks.KindProcessing, "", false},
		"being held":               {"AUTHORIZING", "", webhooks.KindProcessing, "", false},
		"3-D Secure passed":        {"3DS_CHECKED", "", webhooks.KindProcessing, "", false},
		"being captured":           {"CONFIRMING", "", webhooks.KindProcessing, "", false},
		"3-D Secure":               {"3DS_CHECKING", "", webhooks.KindActionRequired, "", false},
		"held":                     {"AUTHORIZED", "", webhooks.KindAuthorized, "", false},
		"paid":                     {"CONFIRMED", "", webhooks.KindSucceeded, "", false},
		"paid, without success":    {"CONFIRMED", `,"Success":false`, webhooks.KindNotice, "", true},
		"held, without success":    {"AUTHORIZED", `,"Success":false`, webhooks.KindNotice, "", true},
		"try failed":               {"AUTH_FAIL", `,"Success":false,"ErrorCode":"101"`, webhooks.KindSoftFailed, "authentication_failed", false},
		"declined":                 {"REJECTED", `,"Success":false,"ErrorCode":"1051"`, webhooks.KindFailed, "insufficient_funds", false},
		"declined, unknown code":   {"REJECTED", `,"Success":false,"ErrorCode":"9"`, webhooks.KindFailed, "card_declined", false},
		"hold released":            {"REVERSED", "", webhooks.KindFailed, "canceled", false},
		"hold released in part":    {"PARTIAL_REVERSED", "", webhooks.KindNotice, "", true},
		"cancelled":                {"CANCELED", "", webhooks.KindFailed, "canceled", false},
		"expired":                  {"DEADLINE_EXPIRED", "", webhooks.KindFailed, "expired", false},
		"too many tries":           {"ATTEMPTS_EXPIRED", "", webhooks.KindFailed, "expired", false},
		"refunding":                {"REFUNDING", "", webhooks.KindRefundPending, "", true},
		"refunded":                 {"REFUNDED", "", webhooks.KindRefundSucceeded, "", true},
		"refunded in part":         {"PARTIAL_REFUNDED", "", webhooks.KindRefundSucceeded, "", true},
		"receipt":                  {"RECEIPT", "", webhooks.KindIgnored, "", false},
		"a card was linked":        {"COMPLETED", `,"RequestKey":"k"`, webhooks.KindIgnored, "", false},
		"a card was not linked":    {"REJECTED", `,"RequestKey":"k","Success":false`, webhooks.KindIgnored, "", false},
		"an account was linked":    {"ACTIVE", `,"NotificationType":"LINKACCOUNT"`, webhooks.KindIgnored, "", false},
		"no account was linked":    {"REJECTED", `,"NotificationType":"LINKACCOUNT","Success":false`, webhooks.KindIgnored, "", false},
		"unknown, of any shape":    {"SOMETHING", `,"Amount":"ten"`, webhooks.KindIgnored, "", false},
		"unknown, without payment": {"", `,"PaymentId":null`, webhooks.KindIgnored, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), tbankBody(test.status, test.members))
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.status == "AUTH_FAIL", e.PageOpen, "after a try that failed the bank's page takes another")
			require.Equal(t, test.failure, string(e.FailureCode))
			require.Equal(t, test.fetch, e.NeedsFetch)
		})
	}
}

// TestTwoEqualPartialRefundsAreTwo: they say the same, and the bank gives no id of a refund.
func TestTwoEqualPartialRefundsAreTwo(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	first := providertest.Signed(t, v, tbankBody("PARTIAL_REFUNDED", ""))
	second := first
	second.ReceivedAt = providertest.Now.Add(1)
	a, err := v.Verify(t.Context(), first)
	require.NoError(t, err)
	b, err := v.Verify(t.Context(), second)
	require.NoError(t, err)
	require.NotEqual(t, a[0].ID, b[0].ID)
	require.Nil(t, a[0].Money, "the amount may be what is left")
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := string(providertest.Signed(t, v, tbankBody("CONFIRMED", "")).Body)
	for name, test := range map[string]struct {
		body string
		want error
	}{
		"no token":           {tbankBody("CONFIRMED", ""), webhooks.ErrSignatureMissing},
		"token is an object": {tbankBody("CONFIRMED", `,"Token":{}`), webhooks.ErrSignatureMissing},
		"not hexadecimal":    {tbankBody("CONFIRMED", `,"Token":"xyz"`), webhooks.ErrSignatureInvalid},
		"short token":        {tbankBody("CONFIRMED", `,"Token":"00"`), webhooks.ErrSignatureInvalid},
		"not JSON":           {`Status=CONFIRMED`, webhooks.ErrSignatureMalformed},
		"not UTF-8":          {strings.Replace(good, "att_1", "att\xff1", 1), webhooks.ErrSignatureMalformed},
		"other order":        {strings.Replace(good, "att_1", "att_2", 1), webhooks.ErrSignatureInvalid},
		"other number":       {strings.Replace(good, "12345,", "12346,", 1), webhooks.ErrSignatureInvalid},
		"own password":       {strings.Replace(good, `"Amount"`, `"Password":"evil","Amount"`, 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Verify(t.Context(), providertest.Unsigned(test.body))
			require.ErrorIs(t, err, test.want)
		})
	}
	for name, body := range map[string]string{
		"no payment":         tbankBody("CONFIRMED", `,"PaymentId":null`),
		"amount of rubles":   tbankBody("CONFIRMED", `,"Amount":19.99`),
		"amount is negative": tbankBody("CONFIRMED", `,"Amount":-1`),
	} {
		require.Equal(t, "CONFIRMED", providertest.RequireUnreadable(t, v, providertest.Signed(t, v, body)).Type, name)
	}
	require.Error(t, v.Sign(&webhooks.Delivery{Body: []byte(`[]`)}))
}

func TestTellsWhichPasswordMatched(t *testing.T) {
	t.Parallel()
	events, err := newVerifier(t, "new", "old").Verify(t.Context(), providertest.Signed(t, newVerifier(t, "old"), tbankBody("CONFIRMED", "")))
	require.NoError(t, err)
	require.Equal(t, 1, events[0].SecretIndex)
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	_, err := tbank.New(webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)

	d := providertest.Signed(t, newVerifier(t, "p"), tbankBody("CONFIRMED", ""))
	for terminal, want := range map[string]error{"": nil, "1DEMO": nil, "2": webhooks.ErrSignatureInvalid} {
		v, err := tbank.New(webhooks.Config{Secrets: []string{"p"}, Params: map[string]string{"terminal_key": terminal}})
		require.NoError(t, err)
		_, err = v.Verify(t.Context(), d)
		require.ErrorIs(t, err, want)
	}

	ack := newVerifier(t, "p").Ack(d, nil)
	require.Equal(t, "OK", string(ack.Body))
	require.Equal(t, http.StatusOK, ack.Status)
}

func ExampleVerifier_Verify() {
	tbank, err := tbank.New(webhooks.Config{Secrets: []string{"password"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"TerminalKey":"1","OrderId":"att_1","Success":true,"Status":"CONFIRMED","PaymentId":13660123456789012345,"Amount":1999}`)}
	if err := tbank.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := tbank.Verify(context.Background(), d)
	fmt.Println(err)
	fmt.Println(events[0].ID, events[0].Kind, events[0].References, string(tbank.Ack(d, events).Body))
	// Output:
	// <nil>
	// 13660123456789012345:CONFIRMED:1999 succeeded [att_1 13660123456789012345] OK
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		tbankBody("CONFIRMED", ""), tbankBody("REJECTED", `,"RequestKey":"k"`), tbankBody("PARTIAL_REFUNDED", `,"Amount":1e3`),
		`{"PaymentId":true,"Status":"AUTHORIZED","Password":null}`, `{}`, ``,
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
		providertest.Parse(t, v, d)
		if tbankFlip(t, &d, place, mask) {
			providertest.Forged(t, v, d)
		}
	})
}

// tbankFlip changes one byte of a value that is signed, or of the token. It reports false if there was nothing to
// change.
func tbankFlip(t *testing.T, d *webhooks.Delivery, place uint, mask byte) bool {
	t.Helper()
	var object map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(d.Body, &object))
	names := slices.Sorted(maps.Keys(object))
	name := names[place%uint(len(names))]
	var before string
	if json.Unmarshal(object[name], &before) != nil || before == "" || name == "Password" {
		return false
	}
	after := []byte(before)
	after[place%uint(len(after))] ^= mask
	if bytes.EqualFold(after, []byte(before)) && name == "Token" || string(after) == before {
		return false
	}
	changed, err := json.Marshal(string(after))
	require.NoError(t, err)
	object[name] = changed
	d.Body, err = json.Marshal(object)
	require.NoError(t, err)
	return true
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, func(code string) (webhooks.FailureCode, string) { return tbank.FailureCode("REJECTED", code) }, map[string]string{
		"card_declined": "|9", "insufficient_funds": "1051", "authentication_failed": "101", "fraud_suspected": "1034|1041|1043|1059",
	})
}
