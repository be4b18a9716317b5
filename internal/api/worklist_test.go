package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

func (d *desk) List(_ context.Context, who support.Staff, f worklist.Filter, _ support.Page) ([]worklist.Entry, string, error) {
	d.listed = f
	return []worklist.Entry{d.found(false), d.found(true)}, "", d.call(who, "discrepancies "+f.Status+" "+f.Kind, "")
}

func (d *desk) Entry(_ context.Context, who support.Staff, id payment.DiscrepancyID) (worklist.Entry, error) {
	return d.found(false), d.call(who, "discrepancy "+id.String(), "")
}

func (d *desk) Assign(_ context.Context, who support.Staff, cmd worklist.Assign) (worklist.Entry, error) {
	d.assigned = cmd
	return d.found(false), d.call(who, "assign "+cmd.ID.String(), cmd.Reason)
}

func (d *desk) Comment(_ context.Context, who support.Staff, cmd worklist.AddComment) (worklist.Entry, idempotency.Result, error) {
	d.commented = cmd
	return d.found(false), idempotency.Reused, d.call(who, "comment "+cmd.ID.String(), cmd.Text)
}

func (d *desk) found(resolved bool) worklist.Entry {
	one := worklist.Entry{
		Discrepancy: payment.Discrepancy{
			ID: payment.DiscrepancyID(eventID), Kind: payment.LateSuccess, OrderID: "A-1", AttemptID: &attemptID, Text: hostile, At: now, Money: d.money,
			Assignee: "sam",
		}, ReadAt: now, AssignedAt: &now, User: "u1", Account: "sandbox", Expected: d.money, Held: d.money, CommentCount: 1,
		Comments: []worklist.Comment{{ID: uuid.UUID(eventID), Author: "sam", Text: hostile, At: now}},
	}
	if resolved {
		one.EventID = &eventID
		one.Resolved = &payment.Resolved{Resolution: payment.ResolvedPaid, ProviderPaymentID: "ch_1", By: "sam", Reason: hostile, At: now}
	}
	return one
}

func (d *desk) Resolve(_ context.Context, who support.Staff, cmd worklist.Resolve) (worklist.Entry, error) {
	d.resolve = cmd.Resolve
	return d.found(true), d.call(who, "resolve "+cmd.ID.String(), cmd.Reason)
}

func TestWorklistRequestsAreRead(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	as := "Authorization: Bearer admin"
	b.send(http.MethodGet, "/v1/support/discrepancies?status=open&kind=disputed&account=acc&assignee=me&opened_from=2026-03-01T00:00:00Z&opened_to=2026-04-01T00:00:00Z&order=oldest", "", as)
	require.Equal(t, worklist.Filter{
		Status: "open", Kind: "disputed", Account: "acc", Assignee: "me", OpenedFrom: "2026-03-01T00:00:00Z", OpenedTo: "2026-04-01T00:00:00Z", Order: "oldest",
	}, d.listed)
	for body, want := range map[string][2]string{
		`{}`:                 {"left out", "left out"},
		`{"assignee":null}`:  {"", "left out"},
		`{"assignee":"pat"}`: {"pat", "left out"},
		`{"expected_assignee":null,"assignee":"pat"}`: {"pat", ""},
		`{"expected_assignee":"sam","reason":"away"}`: {"left out", "sam"},
	} {
		b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/assign", body, as)
		got := [2]string{"left out", "left out"}
		for i, name := range []*string{d.assigned.Assignee, d.assigned.Expected} {
			if name != nil {
				got[i] = *name
			}
		}
		require.Equal(t, want, got, body)
	}
	commented := b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/comments", `{"text":"I look."}`, as).object(t)
	require.Equal(t, worklist.AddComment{ID: payment.DiscrepancyID(eventID), Text: "I look."}, d.commented)
	require.Equal(t, []any{map[string]any{"comment_id": eventID.String(), "author": "sam", "text": hostile, "at": "2026-03-01T09:30:00.120000Z"}}, commented["comments"])
	require.Equal(t, "sam", commented["assignee"])
	again := b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/comments", `{"text":"I look."}`, as, `Idempotency-Key: "key-00000001"`)
	require.Equal(t, idempotency.Key("key-00000001"), d.commented.Key)
	require.Equal(t, []string{"key-00000001", "reused", "true"}, []string{
		again.Header.Get("Idempotency-Key"), again.Header.Get("Idempotency-Result"), again.Header.Get("Idempotency-Replayed"),
	})
	b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/comments", `{"text":"I look."}`, as, "Idempotency-Key: short").is(t, 400, "idempotency-key-invalid")
	b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/comments?Idempotency-Key=key-00000001", `{"text":"I look."}`, as).is(t, 400, "idempotency-key-in-query")
	d.err = idempotency.ErrKeyReused
	b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/comments", `{"text":"Else."}`, as, "Idempotency-Key: key-00000001").is(t, 409, "idempotency-key-reused")
	require.Equal(t, map[string]any{"amount": 1999.0, "currency": "EUR"}, commented["expected"])
}
