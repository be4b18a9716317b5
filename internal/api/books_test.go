package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

var payoutID = payment.PayoutID(uuid.MustParse("01980d4a-0b1c-7e2d-8f3a-4b5c6d7e8f90"))

func settlement() payment.Settlement {
	return payment.Settlement{
		Account: "sandbox", EntryID: "txn_1", OrderID: "A-1", AttemptID: attemptID, Kind: payment.MovementRefund, MovementID: "re_1", Payment: "ch_1",
		Money: payment.Money{Minor: 500, Currency: "GBP"}, Fee: &payment.Money{Minor: 7, Currency: "EUR"}, Net: &payment.Money{Minor: -590, Currency: "EUR"},
		PayoutID: "po_1", Payout: payoutID, RecordedAt: now,
	}
}

// payout is a payout that the provider took back.
func payout() payment.Payout {
	return payment.Payout{
		ID: payoutID, PayoutReport: payment.PayoutReport{
			Account: "sandbox", ProviderID: "po_1", Money: &payment.Money{Minor: -1911, Currency: "EUR"}, Status: payment.PayoutPaid,
			ArrivesOn: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC),
		}, Version: 2, CreatedAt: now, UpdatedAt: now, Entries: 3, Explained: -1900,
	}
}

func reconciliation() lists.Reconciliation {
	return lists.Reconciliation{
		ID: uuid.UUID(payoutID), Account: "sandbox", From: now.AddDate(0, 0, -1), To: now, Source: "books", By: "daily", Status: lists.RunFailed,
		StartedAt: now, Failure: "the provider did not respond", Counts: map[string]int{"entries": 9, "agreed": 4, "looked_up": 1, "applied": 1, "recalled": 1, "review": 1, "missing": 1},
	}
}

func TestBooksShowWhatTheyMean(t *testing.T) {
	t.Parallel()
	b := newDrawer(t, &drawer{})
	items := func(path string) string {
		got := b.send(http.MethodGet, path, "", asService, "Accept: application/x-ndjson")
		require.Equal(t, http.StatusOK, got.StatusCode, string(got.text))
		return string(got.text)
	}
	require.Equal(t, `{"settlement_id":"`+settlement().ID().String()+`","account":"sandbox","payment_attempt_id":"`+attemptID.String()+`",`+
		`"provider_payment_id":"ch_1","kind":"refund","amount":500,"fee":7,"net":-590,"currency":"GBP","balance_currency":"EUR",`+
		`"payout_id":"`+payoutID.String()+`","booked_at":"2026-03-01T09:30:00.120000Z"}`+"\n", items("/v1/settlements"))
	paid := `{"payout_id":"` + payoutID.String() + `","account":"sandbox","provider_payout_id":"po_1","amount":-1911,"currency":"EUR","status":"paid",` +
		`"arrives_on":"2026-03-04","entries":3,"unexplained":-11}` + "\n"
	require.Equal(t, paid, items("/v1/payouts"))
	read := b.send(http.MethodGet, "/v1/payouts/"+strings.ToUpper(payoutID.String()), "", asService)
	require.Equal(t, paid, string(read.text), "as the list shows it")
	require.Equal(t, `{"reconciliation_id":"`+payoutID.String()+`","account":"sandbox","from":"2026-02-28T09:30:00.120000Z","to":"2026-03-01T09:30:00.120000Z",`+
		`"source":"books","started_by":"daily","status":"failed","started_at":"2026-03-01T09:30:00.120000Z","finished_at":null,"differences":5,`+
		`"counts":{"agreed":4,"applied":1,"entries":9,"looked_up":1,"missing":1,"recalled":1,"review":1},"failure":"the provider did not respond","reason":null}`+"\n",
		items("/v1/reconciliations"))
}

// A payout that the provider does not list has null members in place of its amount, status and date.
func TestPayoutsOfUnlistedPayouts(t *testing.T) {
	t.Parallel()
	p := payment.Payout{Entries: 2, Explained: 700}
	require.Nil(t, p.Unexplained())
	b := newDrawer(t, &drawer{})
	b.send(http.MethodGet, "/v1/payouts/01980d4a-0b1c-7e2d-8f3a-000000000000", "", asService).is(t, 404, "not-found")
	b.send(http.MethodGet, "/v1/payouts/po_1", "", asService).is(t, 404, "not-found")
	b.send(http.MethodGet, "/v1/payouts/po_1", "", "Authorization: Bearer u1").is(t, 403, "forbidden")
	for who, want := range map[string]int{"u1": 403, "service-1": 200, "support": 200, "admin": 200, "status." + attemptID.String(): 403} {
		got := b.send(http.MethodGet, "/v1/payouts/"+payoutID.String(), "", "Authorization: Bearer "+who)
		require.Equal(t, want, got.StatusCode, who)
	}
	b.send(http.MethodGet, "/v1/payouts/"+payoutID.String(), "", asService, "On-Behalf-Of: u1").is(t, 403, "forbidden")
}

// Staff who read the books are in the audit log.
func TestBooksAreAudited(t *testing.T) {
	t.Parallel()
	desk := &desk{}
	b := newDrawer(t, &drawer{}, func(o *api.Options) { o.Support = desk })
	b.send(http.MethodGet, "/v1/payouts?status=paid", "", "Authorization: Bearer support")
	b.send(http.MethodGet, "/v1/payouts/"+payoutID.String(), "", "Authorization: Bearer admin")
	require.Equal(t, []string{"support listPayouts.view filter status=paid", "admin readPayout.view payout " + payoutID.String()}, desk.watched)
}
