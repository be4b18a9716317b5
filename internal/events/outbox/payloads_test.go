package outbox_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	contract "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// eventsContract is the part of events.yaml that defines payloads.
type eventsContract struct {
	Channels map[string]struct {
		Messages map[string]any `yaml:"messages"`
	} `yaml:"channels"`
	Components struct {
		Messages map[string]struct {
			Payload  map[string]string `yaml:"payload"`
			Examples []struct {
				Payload map[string]any `yaml:"payload"`
			} `yaml:"examples"`
		} `yaml:"messages"`
		Schemas map[string]any `yaml:"schemas"`
	} `yaml:"components"`
}

// forms are the schema of each type's payload, and the examples of all.
func forms(t *testing.T) (schemas map[string]*openapi3.Schema, examples map[string][]any) {
	t.Helper()
	var c eventsContract
	require.NoError(t, yaml.Unmarshal(contract.Events, &c))
	components, err := json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "events", "version": "1"}, "paths": map[string]any{},
		"components": map[string]any{"schemas": c.Components.Schemas},
	})
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(components)
	require.NoError(t, err)
	schemas, examples = map[string]*openapi3.Schema{}, map[string][]any{}
	for kind, m := range c.Components.Messages {
		require.Contains(t, c.Channels["events"].Messages, kind)
		name := m.Payload["$ref"][len("#/components/schemas/"):]
		require.Contains(t, doc.Components.Schemas, name)
		schemas[kind] = doc.Components.Schemas[name].Value
		for _, e := range m.Examples {
			examples[kind] = append(examples[kind], e.Payload)
		}
	}
	return schemas, examples
}

func valid(t *testing.T, schema *openapi3.Schema, payload []byte) {
	t.Helper()
	require.NotNil(t, schema)
	var value any
	require.NoError(t, json.Unmarshal(payload, &value))
	require.NoError(t, schema.VisitJSON(value, openapi3.EnableFormatValidation()), string(payload))
}

func TestPayloadsAreTheContracts(t *testing.T) {
	t.Parallel()
	schemas, examples := forms(t)
	for kind, all := range examples {
		for _, example := range all {
			payload, err := json.Marshal(example)
			require.NoError(t, err)
			valid(t, schemas[kind], payload)
		}
	}
	seen := map[string]bool{}
	for _, m := range published() {
		seen[m.Type] = true
		require.Contains(t, schemas, m.Type)
		valid(t, schemas[m.Type], m.Payload)
	}
	for kind := range schemas {
		require.True(t, seen[kind], "%s is in the contract, and never published here", kind)
		require.True(t, slices.Contains(outbox.Types(), kind))
	}
}

// Times are in UTC with six digits of a second, whatever their zone, and also if the last digits are zeros.
func TestTimesOfPayloads(t *testing.T) {
	t.Parallel()
	timed := regexp.MustCompile(`"(\w+_at|due_by)":"([^"]*)"`)
	seen := map[string]bool{}
	for _, m := range published() {
		for _, found := range timed.FindAllStringSubmatch(string(m.Payload), -1) {
			seen[found[1]] = true
			require.Equal(t, "2026-03-01T09:30:00.120000Z", found[2], "%s of %s", found[1], m.Type)
		}
	}
	for _, name := range []string{
		"created_at", "updated_at", "finalized_at", "opened_at", "closed_at", "due_by", "resolved_at", "booked_at", "removed_at",
	} {
		require.True(t, seen[name], name)
	}
	zone := time.FixedZone("", 3600)
	m := outbox.Order(outbox.OrderPaid, payment.Order{ID: "A-1"}, payment.AttemptID{}, time.Date(2026, 3, 1, 10, 30, 0, 999_999_999, zone))
	require.Contains(t, string(m.Payload), `"updated_at":"2026-03-01T09:30:00.999999Z"`)
}

// The stored payment method comes with the success, for the next charge.
func TestTheSavedPaymentMethodIsPublished(t *testing.T) {
	t.Parallel()
	var all []string
	for _, m := range published() {
		var data struct {
			Saved json.RawMessage `json:"saved_payment_method"`
		}
		require.NoError(t, json.Unmarshal(m.Payload, &data))
		if m.Type == outbox.AttemptSucceeded {
			all = append(all, string(data.Saved))
		}
	}
	require.Equal(t, []string{"null", `{"token":"card_7f2a","type":"card","display":"Visa •••• 4242","expires":"2034-12","removed_at":null}`}, all)
}

// The event of an order has the sums of all its attempts, each other event the amounts of its attempt.
func TestAmounts(t *testing.T) {
	t.Parallel()
	money := payment.Money{Minor: 1999, Currency: "EUR"}
	late := payment.Attempt{ID: payment.AttemptID(uuid.New()), OrderID: "A-1", Money: money, State: fsm.Failed, Captured: 1999, Refunded: 500, Disputed: 700}
	a := payment.Attempt{ID: payment.AttemptID(uuid.New()), OrderID: "A-1", Money: money, Captured: 1500, Refunded: 200}
	step := func(to fsm.State) []payment.Transition {
		return []payment.Transition{{Version: 2, From: fsm.Authorized, To: to, Facts: payment.Facts{Captured: 1500, Refunded: 100}}}
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	all := append(outbox.Attempt(&a, []payment.Attempt{late}, step(fsm.Succeeded), true), outbox.Attempt(&a, []payment.Attempt{late}, step(fsm.Failed), false)...)
	all = append(all,
		outbox.Order(outbox.OrderPaid, payment.Order{ID: "A-1", Money: money, Attempts: []payment.Attempt{late, a}}, a.ID, at),
		outbox.Refund(&payment.Refund{State: fsm.RefundSucceeded, Money: money, FinalizedAt: &at}, a),
		outbox.Dispute(payment.Dispute{State: fsm.DisputeOpen}, payment.Dispute{}, late),
	)
	var got [][4]any
	for _, m := range all {
		var has struct {
			Captured *int64 `json:"amount_captured"`
			Refunded *int64 `json:"amount_refunded"`
			Disputed *int64 `json:"amount_disputed"`
		}
		require.NoError(t, json.Unmarshal(m.Payload, &has))
		got = append(got, [4]any{m.Type, *has.Captured, *has.Refunded, *has.Disputed})
	}
	require.Equal(t, [][4]any{
		{outbox.AttemptSucceeded, int64(1500), int64(100), int64(0)},
		{outbox.OrderPaid, int64(3499), int64(600), int64(700)},
		{outbox.AttemptFailed, int64(1500), int64(100), int64(0)},
		{outbox.OrderCancelled, int64(3499), int64(600), int64(700)},
		{outbox.OrderPaid, int64(3499), int64(700), int64(700)},
		{outbox.RefundSucceeded, int64(1500), int64(200), int64(0)},
		{outbox.DisputeOpened, int64(1999), int64(500), int64(700)},
	}, got)
}

// published is an event of each type, with all that can be absent there once.
func published() []outbox.Message {
	at := time.Date(2026, 3, 1, 9, 30, 0, 120_000_000, time.UTC)
	id := payment.AttemptID(uuid.MustParse("01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"))
	a := payment.Attempt{
		ID: id, OrderID: "A-1", UserID: "u1", Account: "sandbox", Money: payment.Money{Minor: 1999, Currency: "EUR"}, Capture: payment.CaptureManual, CreatedAt: at,
		Failure: &payment.Failure{Code: "card_declined", Message: "No.", ProviderCode: "do_not_honor"},
	}
	move := func(version int, from, to fsm.State, f payment.Facts) payment.Transition {
		return payment.Transition{Version: version, From: from, To: to, At: at, Facts: f}
	}
	all := outbox.Attempt(&a, nil, []payment.Transition{
		move(2, fsm.Requested, fsm.Authorized, payment.Facts{Authorized: 1999}),
		move(3, fsm.Authorized, fsm.Succeeded, payment.Facts{ProviderPaymentID: "ch_1", Captured: 1999}),
		move(4, fsm.Succeeded, fsm.Succeeded, payment.Facts{ProviderPaymentID: "ch_1", Captured: 1999, Refunded: -5, Review: payment.ReviewOpen}),
	}, true)
	all = append(all, outbox.Attempt(&a, nil, []payment.Transition{move(2, fsm.Requested, fsm.Failed, payment.Facts{})}, false)...)
	keeping := a
	keeping.ID, keeping.OrderID = payment.AttemptID(uuid.MustParse("01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8e")), "A-2"
	keeping.Saved = &payment.SavedMethod{Token: "card_7f2a", Type: "card", Display: "Visa •••• 4242", Expires: "2034-12"}
	all = append(all, outbox.Attempt(&keeping, nil, []payment.Transition{move(3, fsm.Authorized, fsm.Succeeded, payment.Facts{Captured: 1999})}, true)...)
	refund := payment.Refund{
		ID: payment.RefundID(uuid.MustParse("01980d3e-9a10-7b55-8f0a-5d6c1e2f3a4b")), AttemptID: id, OrderID: "A-1", Origin: payment.RefundByRequest,
		State: fsm.RefundSucceeded, Money: a.Money, Version: 2, CreatedAt: at, UpdatedAt: at, FinalizedAt: &at,
	}
	all = append(all, outbox.Refund(&refund, a))
	refund.State, refund.Failure, refund.Reason = fsm.RefundFailed, &payment.Failure{Code: "provider_rejected"}, "returned"
	all = append(all, outbox.Refund(&refund, a))
	dispute := payment.Dispute{
		ID: payment.DisputeID(uuid.MustParse("01980d3f-1c20-7d44-9e1b-7a8b9c0d1e2f")), OrderID: "A-1", AttemptID: id, ProviderDisputeID: "dp_1",
		State: fsm.DisputeOpen, Version: 1, OpenedAt: at, UpdatedAt: at,
	}
	all = append(all, outbox.Dispute(dispute, payment.Dispute{}, a))
	was := dispute
	dispute.Reason, dispute.Money, dispute.DueBy, dispute.Version = "fraudulent", &a.Money, at, 2
	all = append(all, outbox.Dispute(dispute, was, a))
	was, dispute.Version, dispute.ClosedAt = dispute, 3, &at
	for _, state := range []fsm.DisputeState{fsm.DisputeWon, fsm.DisputeLost} {
		dispute.State = state
		all = append(all, outbox.Dispute(dispute, was, a))
	}
	d := payment.Discrepancy{ID: payment.DiscrepancyID(uuid.MustParse("01980d3e-8c11-7d02-a1b5-0c9d8e7f6a5b")), Kind: payment.UnmatchedEvent, At: at}
	all = append(all, outbox.Discrepancy(d))
	d.OrderID, d.AttemptID, d.Money, d.Event.Account = "A-1", &id, &a.Money, "sandbox"
	d.Resolved = &payment.Resolved{Resolution: payment.ResolvedAccepted, At: at, By: "ann", Reason: "as agreed"}
	return slices.Concat(append(all, outbox.Discrepancy(d)), ofBooks(id, at), ofMethods(a, at))
}

// ofMethods is an event of each type about stored payment methods.
func ofMethods(a payment.Attempt, at time.Time) []outbox.Message {
	m := payment.StoredMethod{Account: "sandbox", SavedMethod: payment.SavedMethod{Token: "card_7f2a"}, Version: 1, UpdatedAt: at}
	updated := outbox.Method(m)
	m.Type, m.Display, m.Expires, m.RemovedAt, m.Version = "card", "Visa •••• 4242", "2034-12", &at, 2
	m.UserID, m.OrderID, m.AttemptID = a.UserID, a.OrderID, a.ID
	return []outbox.Message{updated, outbox.Method(m)}
}

// ofBooks is an event of each type about the books.
func ofBooks(id payment.AttemptID, at time.Time) (all []outbox.Message) {
	s := payment.Settlement{Account: "sandbox", EntryID: "e1", AttemptID: id, OrderID: "A-1", Kind: payment.MovementCapture, Money: payment.Money{Minor: 1999, Currency: "EUR"}, RecordedAt: at}
	all = append(all, outbox.Settlement(s))
	s.EntryID, s.Fee, s.Net, s.At = "e2", &payment.Money{Minor: 59, Currency: "USD"}, &payment.Money{Minor: -9, Currency: "USD"}, at
	s.Payment, s.Payout = "ch_1", payment.PayoutID(id)
	all = append(all, outbox.Settlement(s))
	p := payment.Payout{ID: payment.PayoutID(id), PayoutReport: payment.PayoutReport{Account: "sandbox", ProviderID: "po_1", Status: payment.PayoutPaid}, Version: 2, UpdatedAt: at}
	paid, _ := outbox.Payout(p)
	p.Status, p.Money, p.ArrivesOn, p.Version = payment.PayoutFailed, &payment.Money{Minor: 1940, Currency: "EUR"}, at, 3
	failed, _ := outbox.Payout(p)
	return append(all, paid, failed)
}

func TestDisputesArePublishedByTheirState(t *testing.T) {
	t.Parallel()
	of := func(state fsm.DisputeState, version int) payment.Dispute {
		return payment.Dispute{State: state, Version: version}
	}
	for want, change := range map[string][2]payment.Dispute{
		outbox.DisputeOpened:  {of("", 0), of(fsm.DisputeWarning, 1)},
		outbox.DisputeUpdated: {of(fsm.DisputeLost, 3), of(fsm.DisputeOpen, 4)},
		outbox.DisputeWon:     {of("", 0), of(fsm.DisputeWon, 1)},
		outbox.DisputeLost:    {of(fsm.DisputeOpen, 1), of(fsm.DisputeAccepted, 2)},
	} {
		require.Equal(t, want, outbox.Dispute(change[1], change[0], payment.Attempt{}).Type)
	}
	require.Equal(t, outbox.DisputeUpdated, outbox.Dispute(of(fsm.DisputeWon, 3), of(fsm.DisputeWon, 2), payment.Attempt{}).Type, "it was won before")
}

func TestEventsHaveStableIDs(t *testing.T) {
	t.Parallel()
	ids := map[uuid.UUID]string{}
	for i, m := range published() {
		require.Equal(t, m, published()[i], "the same change is the same event")
		if _, there := ids[m.ID]; there {
			require.Fail(t, "two events have one id", "%s and %s", m.Type, ids[m.ID])
		}
		ids[m.ID] = m.Type
	}
}

func TestQuietChangesAreNotPublished(t *testing.T) {
	t.Parallel()
	a := payment.Attempt{}
	for name, move := range map[string]payment.Transition{
		"an amount that nobody sees": {From: fsm.Authorized, To: fsm.Authorized, Quiet: true},
		"a step on the way":          {From: fsm.Requested, To: fsm.AwaitingCustomer},
		"a change before the end":    {From: fsm.Authorized, To: fsm.Authorized},
		"an import":                  {From: fsm.Requested, To: fsm.Succeeded, Cause: payment.Cause{Kind: payment.CauseImport}},
	} {
		require.Empty(t, outbox.Attempt(&a, nil, []payment.Transition{move}, true), name)
	}
}

// The event order.paid comes with the success, or, if the attempt waited for a review, with the change that ends the wait: the end of the
// review, or money that comes back after that. An event about a review comes whenever the review begins or ends.
func TestReviewsArePublished(t *testing.T) {
	t.Parallel()
	move := func(from, to fsm.State, reviewed bool) []payment.Transition {
		return []payment.Transition{{Version: 2, From: from, To: to, Reviewed: reviewed}}
	}
	for name, c := range map[string]struct {
		transitions []payment.Transition
		paid        bool
		want        []string
	}{
		"paid":             {move(fsm.Authorized, fsm.Succeeded, false), true, []string{outbox.AttemptSucceeded, outbox.OrderPaid}},
		"held back":        {move(fsm.Authorized, fsm.Succeeded, true), false, []string{outbox.AttemptSucceeded}},
		"approved":         {move(fsm.Succeeded, fsm.Succeeded, true), true, []string{outbox.AttemptUpdated, outbox.OrderPaid}},
		"money is back":    {move(fsm.Succeeded, fsm.Succeeded, false), true, []string{outbox.AttemptUpdated, outbox.OrderPaid}},
		"approved, back":   {append(move(fsm.Succeeded, fsm.Succeeded, true), move(fsm.Succeeded, fsm.Succeeded, false)...), true, []string{outbox.AttemptUpdated, outbox.AttemptUpdated, outbox.OrderPaid}},
		"of a hold":        {move(fsm.Authorized, fsm.Authorized, true), false, []string{outbox.AttemptUpdated}},
		"approved at once": {append(move(fsm.Authorized, fsm.Succeeded, true), move(fsm.Succeeded, fsm.Succeeded, true)...), true, []string{outbox.AttemptSucceeded, outbox.OrderPaid, outbox.AttemptUpdated}},
	} {
		var got []string
		for _, m := range outbox.Attempt(&payment.Attempt{}, nil, c.transitions, c.paid) {
			got = append(got, m.Type)
		}
		require.Equal(t, c.want, got, name)
	}
}
