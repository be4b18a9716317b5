package worklist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// each runs statements that are separated by semicolons, with the attempt.
func (r *env) each(t *testing.T, statements string, attempt uuid.UUID) {
	t.Helper()
	for s := range strings.SplitSeq(statements, ";") {
		if strings.TrimSpace(s) != "" {
			r.run(t, s, attempt)
		}
	}
}

func (r *env) entry(t *testing.T, d payment.DiscrepancyID) worklist.Entry {
	t.Helper()
	e, err := r.store.Worklist().Entry(t.Context(), d, worklist.Shown)
	require.NoError(t, err)
	return e
}

// An entry about a dispute has the open dispute's present reason and deadline.
func TestEntry_dispute(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "succeeded", 1999, 0, 0)
	r.each(t, `INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, reason, due_by, version, opened_at, updated_at)
			SELECT order_id, gen_random_uuid(), attempt_id, account, name, 'open', 'reason of ' || name, '2026-12-03 10:00Z'::timestamptz + n * interval '1 day', 1, now(), now()
			FROM payment_attempts, (VALUES ('dp_1', 0), ('dp_2', 1)) v (name, n) WHERE attempt_id = $1;
		UPDATE payment_attempts SET provider_payment_id = 'pi_1', version = version + 1 WHERE attempt_id = $1`, attempt)
	due := time.Date(2026, 12, 3, 10, 0, 0, 0, time.UTC)
	for kind, c := range map[payment.DiscrepancyKind]struct {
		about, id string
		want      payment.Dispute
	}{
		payment.Disputed:        {payment.AboutDispute, "open dp_2", payment.Dispute{ProviderDisputeID: "dp_2", Reason: "reason of dp_2", DueBy: due.AddDate(0, 0, 1)}},
		payment.PaymentReversed: {"", "chargeback", payment.Dispute{ProviderDisputeID: "dp_1", Reason: "reason of dp_1", DueBy: due}},
		payment.NeedsReview:     {payment.AboutSecondPayment, "", payment.Dispute{}},
	} {
		e := r.entry(t, r.opened(t, kind, attempt, fmt.Sprintf(`{"about": %q, "about_id": %q}`, c.about, c.id)))
		e.Dispute.DueBy = e.Dispute.DueBy.UTC()
		require.Equal(t, c.want, e.Dispute, kind)
		require.Equal(t, "pi_1", e.ProviderPaymentID)
	}
}

func accept(d payment.DiscrepancyID) worklist.Resolve {
	return worklist.Resolve{Resolve: commands.Resolve{ID: d, Resolution: payment.ResolvedAccepted, Reason: reason}}
}

func TestService_Assign(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has         string
		who         support.Staff
		to, expects *string
		want        string // has it then
		taken       bool
	}{
		"take":                            {"", sam, nil, nil, "sam", false},
		"take_again":                      {"sam", sam, nil, nil, "sam", false},
		"take_another_s":                  {"pat", sam, nil, nil, "pat", true},
		"take_over":                       {"pat", sam, nil, new("pat"), "sam", false},
		"take_over_from_a_third":          {"kim", sam, nil, new("pat"), "kim", true},
		"take_over_what_was_given_back":   {"", sam, nil, new("pat"), "", true},
		"take_as_nobody_s":                {"", sam, nil, new(""), "sam", false},
		"take_as_nobody_s_what_is_not":    {"pat", sam, nil, new(""), "pat", true},
		"give_back":                       {"sam", sam, new(""), nil, "", false},
		"give_back_another_s":             {"pat", sam, new(""), nil, "pat", true},
		"give_back_what_nobody_has":       {"", sam, new(""), nil, "", false},
		"pass_on":                         {"sam", sam, new("pat"), nil, "pat", false},
		"pass_on_another_s":               {"kim", sam, new("pat"), nil, "kim", true},
		"pass_on_to_who_has_it":           {"pat", sam, new("pat"), nil, "pat", false},
		"own_under_another_expectation":   {"sam", sam, new("kim"), new("pat"), "sam", true},
		"of_an_admin_no_more_than_others": {"pat", ada, nil, nil, "pat", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			d := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc"}`)
			r.run(t, "UPDATE discrepancies SET assignee = $1, assigned_at = CASE WHEN $1 <> '' THEN now() END", c.has)
			e, err := r.Assign(t.Context(), c.who, worklist.Assign{ID: d, Assignee: c.to, Expected: c.expects})
			outcome := "done"
			if c.taken {
				var assigned *payment.AssignedError
				require.ErrorAs(t, err, &assigned)
				require.Equal(t, c.has, assigned.Assignee)
				outcome = "refused"
			} else {
				require.NoError(t, err)
				require.Equal(t, c.want, e.Assignee)
			}
			require.Equal(t, c.want, r.entry(t, d).Assignee)
			require.Equal(t, []string{c.who.Subject + " discrepancy.assign " + outcome}, r.acts(t))
		})
	}
}

func TestService_Assign_refuses(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "failed", 1999, 0, 0)
	d := r.opened(t, payment.LateSuccess, attempt, "{}")
	for _, wrong := range []worklist.Assign{
		{ID: d, Assignee: new("a b")}, {ID: d, Assignee: new("paylatch")}, {ID: d, Expected: new("\x00")}, {ID: d, Reason: strings.Repeat("x", 2001)},
	} {
		_, err := r.Assign(t.Context(), sam, wrong)
		require.ErrorAs(t, err, new(*payment.ValidationError))
	}
	_, err := r.Assign(t.Context(), staff("u1", payment.RoleCustomer), worklist.Assign{ID: d})
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = r.Assign(t.Context(), sam, worklist.Assign{ID: payment.DiscrepancyID(uuid.New())})
	require.ErrorIs(t, err, payment.ErrDiscrepancyNotFound)
	_, err = r.Assign(t.Context(), sam, worklist.Assign{ID: d, Reason: "mine"})
	require.NoError(t, err)
	require.Equal(t, []string{attempt.String() + " mine  sam"}, rows(t, r,
		`SELECT attempt_id || ' ' || reason || ' ' || (detail->>'from') || ' ' || (detail->>'to') FROM staff_audit WHERE action = 'discrepancy.assign' AND outcome = 'done'`))

	_, err = r.Resolve(t.Context(), pat, worklist.Resolve{Resolve: accept(d).Resolve, Expected: new("")})
	require.ErrorIs(t, err, payment.ErrAssigned, "it was nobody's on the page that pat has")
	require.Nil(t, r.entry(t, d).Resolved)
	_, err = r.Resolve(t.Context(), pat, worklist.Resolve{Resolve: accept(d).Resolve, Expected: new("sam")})
	require.NoError(t, err)
	_, err = r.Assign(t.Context(), pat, worklist.Assign{ID: d, Expected: new("sam")})
	require.ErrorIs(t, err, payment.ErrResolved)
	require.Equal(t, "sam", r.entry(t, d).Assignee)
}

func TestService_Comment(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	d := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc"}`)
	for i := range 52 {
		err := r.comments(t, sam, d, fmt.Sprintf("the %dth", i))
		require.NoError(t, err)
	}
	_, err := r.Resolve(t.Context(), sam, accept(d))
	require.NoError(t, err)
	e, _, err := r.Comment(t.Context(), pat, worklist.AddComment{ID: d, Text: strings.Repeat("é", 2000)})
	require.NoError(t, err, "of what is resolved, too")
	require.EqualValues(t, 53, e.CommentCount)
	require.Len(t, e.Comments, 50)
	require.Equal(t, "pat", e.Comments[0].Author)
	require.Equal(t, "the 51th", e.Comments[1].Text)
	for _, wrong := range []string{"", " \n", strings.Repeat("x", 2001), "a\x00", "\xff"} {
		err := r.comments(t, sam, d, wrong)
		require.ErrorAs(t, err, new(*payment.ValidationError), "%q", wrong)
	}
	err = r.comments(t, sam, payment.DiscrepancyID(uuid.New()), "where?")
	require.ErrorIs(t, err, payment.ErrDiscrepancyNotFound)
	err = r.comments(t, staff("shop", payment.RoleService), d, "who?")
	require.ErrorIs(t, err, payment.ErrForbidden)
	require.Equal(t, 53, one[int](t, r, "SELECT count(*)::int FROM staff_audit WHERE action = 'discrepancy.comment' AND outcome = 'done' AND detail->>'comment_id' IS NOT NULL"))

	r.run(t, "ALTER TABLE staff_audit ADD CONSTRAINT full_up CHECK (false) NOT VALID")
	err = r.comments(t, sam, d, "unheard")
	require.Error(t, err)
	require.EqualValues(t, 53, r.entry(t, d).CommentCount, "without an entry in the audit log there is no comment")
}

func TestService_List(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "failed", 2500, 0, 0)
	r.opened(t, payment.AmountMismatch, attempt, `{"opened_at": "2026-03-01T09:00:00Z", "amount": 2500, "currency": "EUR", "text": "first"}`)
	r.opened(t, payment.EventChanged, uuid.Nil, `{"opened_at": "2026-03-01T10:00:00Z", "account": "other", "text": "second", "assignee": "sam", "assigned_at": "2026-03-01T11:00:00Z"}`)
	third := r.opened(t, payment.UnknownHere, uuid.Nil, `{"opened_at": "2026-03-02T09:00:00Z", "account": "other", "text": "third", "assignee": "pat", "assigned_at": "2026-03-02T11:00:00Z"}`)
	r.opened(t, payment.EventChanged, uuid.Nil, `{"opened_at": "2026-03-03T09:00:00Z", "about_id": "1", "text": "fourth",
		"resolved_at": "2026-03-04T09:00:00Z", "resolved_by": "sam", "resolution": "accepted"}`)
	for _, c := range []struct {
		f    worklist.Filter
		want string
	}{
		{worklist.Filter{}, "fourth third second first"},
		{worklist.Filter{Order: worklist.Oldest}, "first second third fourth"},
		{worklist.Filter{Status: worklist.Open, Order: worklist.Oldest}, "first second third"},
		{worklist.Filter{Status: worklist.Open}, "third second first"},
		{worklist.Filter{Status: worklist.Resolved}, "fourth"},
		{worklist.Filter{Kind: "event_changed"}, "fourth second"},
		{worklist.Filter{Account: "acc"}, "first"},
		{worklist.Filter{Account: "other"}, "third second"},
		{worklist.Filter{Assignee: worklist.Me}, "second"},
		{worklist.Filter{Assignee: "pat"}, "third"},
		{worklist.Filter{Assignee: worklist.Nobody, Status: worklist.Open}, "first"},
		{worklist.Filter{OpenedFrom: "2026-03-01T10:00:00Z", OpenedTo: "2026-03-02T09:00"}, "second"},
	} {
		for _, size := range []string{"100", "1"} {
			var got []string
			for cursor := ""; ; {
				p, err := support.ParsePage(cursor, size)
				require.NoError(t, err)
				list, next, err := r.List(t.Context(), sam, c.f, p)
				require.NoError(t, err)
				for _, e := range list {
					got = append(got, e.Text)
				}
				if cursor = next; next == "" {
					break
				}
			}
			require.Equal(t, c.want, strings.Join(got, " "), "%+v by %s", c.f, size)
		}
	}
	list, _, err := r.Page(t.Context(), sam, worklist.Filter{Order: worklist.Oldest}, firstPage(t))
	require.NoError(t, err)
	require.Equal(t, []string{"u1", "acc", "19.99 EUR", "25.00 EUR", "25.00 EUR"}, []string{
		string(list[0].User), list[0].Account, list[0].Expected.String(), list[0].Money.String(), list[0].Held.String(),
	})
	require.Nil(t, list[1].Expected)
	require.Nil(t, list[1].Held)

	acts := len(r.acts(t))
	_, err = r.store.Worklist().Entry(t.Context(), third, 0)
	require.NoError(t, err)
	_, _, err = r.Changed(t.Context(), sam, worklist.Filter{}, firstPage(t))
	require.NoError(t, err)
	require.Len(t, r.acts(t), acts, "what a page asks by itself is in no log")
	_, _, err = r.Changed(t.Context(), staff("u1", payment.RoleCustomer), worklist.Filter{}, firstPage(t))
	require.ErrorIs(t, err, payment.ErrForbidden)
}

func TestService_Waiting(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	now := time.Now()
	r.Now = func() time.Time { return now }
	d := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc"}`)
	waits := func(want int64) {
		t.Helper()
		n, err := r.Waiting(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	waits(1)
	other := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "other"}`)
	waits(1)
	now = now.Add(time.Second)
	waits(2)
	for i, id := range []payment.DiscrepancyID{d, other} {
		_, err := r.Resolve(t.Context(), sam, accept(id))
		require.NoError(t, err)
		waits(int64(1 - i))
	}
}

// The case of a discrepancy decides its possible resolutions.
func TestEntry_Possible(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "succeeded", 1999, 0, 0)
	for kind, want := range map[payment.DiscrepancyKind]string{
		payment.PaymentReversed: "accepted", payment.EventChanged: "accepted",
		payment.Disputed: "accepted refunded_elsewhere", payment.RefundReversed: "accepted refunded_elsewhere",
		payment.UnmatchedEvent: "accepted refunded_elsewhere", payment.UnknownHere: "accepted refunded_elsewhere",
	} {
		e := r.entry(t, r.opened(t, kind, attempt, "{}"))
		var got []string
		for _, p := range e.Possible() {
			got = append(got, string(p.Resolution))
			require.Contains(t, e.WhatToDo(), "Resolve this case as "+p.Resolution.Words()+" if "+p.When+".")
		}
		require.Equal(t, want, strings.Join(got, " "), kind)
		_, err := r.Resolve(t.Context(), sam, worklist.Resolve{Resolve: commands.Resolve{ID: e.ID, Resolution: payment.ResolvedRefundedElsewhere, Reason: reason}})
		require.Equal(t, strings.Contains(want, "refunded_elsewhere"), err == nil, "%s: %v", kind, err)
	}
}
