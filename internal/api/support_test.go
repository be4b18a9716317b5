package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.Support = (*support.Service)(nil)

const hostile = "<script>alert('1')</script>\u202e\"\\\n\u0007"

// desk returns the test's results and records the calls.
type desk struct {
	err   error
	money *payment.Money

	mu        sync.Mutex
	who       support.Staff
	asked     []string
	reason    string
	dry       bool
	fresh     bool
	resolve   commands.Resolve
	listed    worklist.Filter
	assigned  worklist.Assign
	commented worklist.AddComment
	filter    support.AuditFilter
	watched   []string
	refused   []string
}

func (d *desk) call(who support.Staff, what, reason string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.who, d.reason = who, reason
	d.asked = append(d.asked, what)
	return d.err
}

var eventID = payment.EventID(uuid.MustParse("01980d3e-8c11-7d02-a1b5-0c9d8e7f6a5b"))

func shownEvent() support.ShownEvent {
	return support.ShownEvent{
		Event: support.Event{
			ID: eventID, Account: "sandbox", ProviderEventID: "evt_1" + hostile, Type: "charge.succeeded", Kind: "succeeded", Verdict: fsm.Applied,
			OrderID: "A-1", AttemptID: &attemptID, ReceivedAt: now, OccurredAt: &now, Kept: true, ContentType: "application/json", Body: []byte("{\"a\":1}"),
		},
		Payload: map[string]any{"a": hostile, "list": []any{json.Number("1"), nil}},
	}
}

func (d *desk) Search(_ context.Context, who support.Staff, q finder.Query) (finder.Found, error) {
	return finder.Found{Hits: []finder.Hit{
		{Type: "order", ID: hostile, OrderID: hostile, User: hostile, Money: d.money, Status: "open", Matched: "order_id", At: now},
		{Type: "event", ID: eventID.String(), Status: "unmatched", Matched: "reference", At: now},
	}, Next: "next", Understood: hostile}, d.call(who, "search "+q.Text, "")
}

func (d *desk) Attempt(_ context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error) {
	gone := shownEvent()
	gone.Payload = nil
	return support.Attempt{
		View: payment.View{Attempt: pending()}, Summary: hostile, Events: []support.ShownEvent{shownEvent(), gone},
		Timeline: []support.Entry{{At: now, Kind: support.EntryReuse, Actor: "customer:u1", Text: hostile, Detail: map[string]any{"times": 2, "x": hostile}}},
	}, d.call(who, "attempt "+id.String(), "")
}

func (d *desk) Recheck(_ context.Context, who support.Staff, id payment.AttemptID, reason string) (payment.View, error) {
	return payment.View{Attempt: pending()}, d.call(who, "recheck "+id.String(), reason)
}

func (d *desk) Event(_ context.Context, who support.Staff, id payment.EventID) (support.ShownEvent, error) {
	return shownEvent(), d.call(who, "event "+id.String(), "")
}

func (d *desk) Reveal(_ context.Context, who support.Staff, id payment.EventID, reason string) (support.Event, error) {
	return shownEvent().Event, d.call(who, "reveal "+id.String(), reason)
}

func (d *desk) Replay(_ context.Context, who support.Staff, id payment.EventID, reason string, dry bool) (intake.Replayed, error) {
	d.dry = dry
	a := pending()
	return intake.Replayed{Event: payment.StoredEvent{ID: id}, Verdict: fsm.Repeat, Before: &a, After: &a}, d.call(who, "replay "+id.String(), reason)
}

func (d *desk) Audit(_ context.Context, who support.Staff, f support.AuditFilter, _ support.Page) ([]support.AuditEntry, string, error) {
	d.filter = f
	return []support.AuditEntry{{
		ID: uuid.UUID(eventID), Actor: "sam", Roles: []payment.Role{payment.RoleSupport}, Action: support.Rechecked, Target: hostile,
		Reason: hostile, Outcome: support.Done, At: now,
	}}, "", d.call(who, "audit", "")
}

func (d *desk) Watch(_ context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error {
	d.mu.Lock()
	d.watched = append(d.watched, who.Subject+" "+string(action)+" "+targetType+" "+target)
	err := d.err
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return act()
}

func (d *desk) Refuse(_ context.Context, who support.Staff, action support.Action, targetType, target string, why error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = append(d.refused, who.Subject+" "+string(action)+" "+targetType+" "+target)
	return why
}

func newDesk(t *testing.T) (*bench, *desk) {
	t.Helper()
	d := &desk{money: &payment.Money{Minor: 1999, Currency: "EUR"}}
	return newBench(t, func(o *api.Options) {
		o.Support, o.Finder, o.Jobs, o.Worklist, o.RefundRequests, o.Overview = d, d, d, d, d, d
	}), d
}

const because = `{"reason":"the customer called, case 4711"}`

// supportCalls returns all support operations with the expected call of the use case.
func supportCalls() map[string]string {
	id, event := attemptID.String(), eventID.String()
	return map[string]string{
		"GET /v1/support/search?q=A-1 ":                                                                       "search A-1",
		"GET /v1/support/attempts/" + id + " ":                                                                "attempt " + id,
		"POST /v1/support/attempts/" + id + "/recheck " + because:                                             "recheck " + id,
		"GET /v1/support/events/" + event + " ":                                                               "event " + event,
		"POST /v1/support/events/" + event + "/reveal " + because:                                             "reveal " + event,
		"POST /v1/support/events/" + event + "/replay " + because:                                             "replay " + event,
		"GET /v1/support/discrepancies?status=open&kind=disputed ":                                            "discrepancies open disputed",
		"POST /v1/support/discrepancies/" + event + `/resolve {"reason":"case 4711","resolution":"accepted"}`: "resolve " + event,
		"GET /v1/support/discrepancies/" + event + " ":                                                        "discrepancy " + event,
		"POST /v1/support/discrepancies/" + event + "/assign {}":                                              "assign " + event,
		"POST /v1/support/discrepancies/" + event + `/comments {"text":"I look."}`:                            "comment " + event,
		"POST /v1/support/events/replay " + replayAll:                                                         "try replay map[account:acc]",
		"POST /v1/support/discrepancies/resolve " + resolveAll:                                                "try resolve map[kind:disputed]",
		"GET /v1/support/jobs ":                                                                               "jobs",
		"GET /v1/support/jobs/" + event + " ":                                                                 "job " + event,
		"POST /v1/support/jobs/" + event + "/stop " + because:                                                 "stop " + event,
		"GET /v1/support/overview ":                                                                           "overview",
		"GET /v1/support/refund-requests?status=open ":                                                        "requests open",
		"GET /v1/support/refund-requests/" + event + " ":                                                      "request " + event,
		"POST /v1/support/refund-requests " + askForRefund:                                                    "ask " + id + " 500 EUR",
		"POST /v1/support/refund-requests/" + event + "/approve " + because:                                   "approve " + event,
		"POST /v1/support/refund-requests/" + event + "/decline " + because:                                   "decline " + event,
		"GET /v1/support/audit?actor=sam&action=x&target=y ":                                                  "audit",
	}
}

func TestStaffAndNobodyElse(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	for call, want := range supportCalls() {
		line := strings.SplitN(call, " ", 3)
		for _, who := range []string{"u1", "service-1", "status." + attemptID.String(), "nobody"} {
			b.send(line[0], line[1], line[2], "Authorization: Bearer "+who).is(t, 403, "forbidden")
		}
		b.send(line[0], line[1], line[2], "Authorization: -").is(t, 401, "unauthenticated")
		require.Empty(t, d.asked)
		for _, who := range []string{"support", "admin"} {
			got := b.send(line[0], line[1], line[2], "Authorization: Bearer "+who, "X-Request-Id: r-1")
			status := http.StatusOK
			if strings.HasSuffix(line[1], "/comments") {
				status = http.StatusCreated
			}
			require.Equal(t, status, got.StatusCode, "%s: %s", call, got.text)
			require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
			require.Equal(t, []string{want}, d.asked)
			require.Equal(t, who, d.who.Subject)
			require.Equal(t, "r-1", d.who.RequestID)
			require.NotEmpty(t, d.who.Address)
			d.asked = nil
		}
	}
	require.Empty(t, d.watched, "the use cases write down themselves")
}

// Every call of the chapter is in the table above.
func TestEverySupportCallIsTried(t *testing.T) {
	t.Parallel()
	doc := document(t)
	require.Len(t, supportCalls(), len(doc.Tagged("support")))
}

func TestHostileTextComesBackAsData(t *testing.T) {
	t.Parallel()
	b, _ := newDesk(t)
	for call := range supportCalls() {
		line := strings.SplitN(call, " ", 3)
		got := b.send(line[0], line[1], line[2], "Authorization: Bearer support")
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.True(t, json.Valid(got.text))
	}
	page := b.send(http.MethodGet, "/v1/support/attempts/"+attemptID.String(), "", "Authorization: Bearer support").object(t)
	require.Equal(t, hostile, page["summary"])
	entry := page["timeline"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{
		"at": "2026-03-01T09:30:00.120000Z", "kind": "reuse", "actor": "customer:u1", "text": hostile, "detail": map[string]any{"times": 2.0, "x": hostile},
	}, entry)
	events := page["events"].([]any)
	require.Equal(t, map[string]any{
		"event_id": eventID.String(), "provider_event_id": "evt_1" + hostile, "kind": "succeeded", "verdict": "applied",
		"received_at": "2026-03-01T09:30:00.120000Z", "payload": map[string]any{"a": hostile, "list": []any{1.0, nil}},
	}, events[0])
	require.Nil(t, events[1].(map[string]any)["payload"])
	hits := b.send(http.MethodGet, "/v1/support/search?q=x", "", "Authorization: Bearer support").object(t)
	require.Equal(t, "next", hits["next_cursor"])
	require.Equal(t, map[string]any{
		"type": "order", "id": hostile, "order_id": hostile, "payment_attempt_id": nil, "status": "open", "matched": "order_id",
		"at": "2026-03-01T09:30:00.120000Z", "amount": 1999.0, "currency": "EUR", "user_id": hostile,
	}, hits["items"].([]any)[0])
	require.Nil(t, hits["items"].([]any)[1].(map[string]any)["amount"])
	require.Equal(t, hostile, hits["understood"])
}

func TestSupportRequestsAreRead(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	as := "Authorization: Bearer admin"
	b.send(http.MethodPost, "/v1/support/events/"+eventID.String()+"/replay", `{"reason":"r","dry_run":true}`, as)
	require.True(t, d.dry)
	require.Equal(t, "r", d.reason)
	b.send(http.MethodPost, "/v1/support/discrepancies/"+eventID.String()+"/resolve", `{"reason":"r","resolution":"paid","provider_payment_id":"ch_9"}`, as)
	require.Equal(t, commands.Resolve{ID: payment.DiscrepancyID(eventID), Resolution: payment.ResolvedPaid, ProviderPaymentID: "ch_9", Reason: "r"}, d.resolve)
	b.send(http.MethodGet, "/v1/support/audit?actor=sam&action=x&target=y", "", as)
	require.Equal(t, support.AuditFilter{Actor: "sam", Action: "x", Target: "y"}, d.filter)

	one := b.send(http.MethodGet, "/v1/support/discrepancies", "", as).object(t)
	require.Nil(t, one["next_cursor"])
	require.NotContains(t, one["items"].([]any)[0], "comments")
	require.InDelta(t, 1, one["items"].([]any)[0].(map[string]any)["comment_count"], 0)
	items := one["items"].([]any)
	require.Equal(t, "open", items[0].(map[string]any)["status"])
	require.InDelta(t, 1999, items[0].(map[string]any)["amount"], 0)
	require.Equal(t, "resolved", items[1].(map[string]any)["status"])
	require.Equal(t, "ch_1", items[1].(map[string]any)["provider_payment_id"])
	d.money = nil
	one = b.send(http.MethodGet, "/v1/support/discrepancies", "", as).object(t)
	require.Nil(t, one["items"].([]any)[0].(map[string]any)["amount"])
}

// The contract names each of them: send compares.
func TestRefusalsOfSupport(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	resolve := "/v1/support/discrepancies/" + eventID.String() + `/resolve {"reason":"r","resolution":"paid"}`
	assign := "/v1/support/discrepancies/" + eventID.String() + `/assign {}`
	recheck := "/v1/support/attempts/" + attemptID.String() + `/recheck {"reason":"r"}`
	replay := "/v1/support/events/" + eventID.String() + `/replay {"reason":"r"}`
	for _, c := range []struct {
		call   string
		err    error
		status int
		code   string
	}{
		{resolve, payment.ErrDiscrepancyNotFound, 404, "not-found"},
		{resolve, payment.ErrPaymentIDMissing, 422, "provider-payment-id-required"},
		{resolve, payment.ErrResolved, 409, "discrepancy-already-resolved"},
		{resolve, payment.ErrNotPending, 409, "attempt-not-pending"},
		{resolve, payment.ErrHoldsMoney, 409, "attempt-holds-money"},
		{resolve, payment.ErrPaymentTaken, 409, "provider-payment-taken"},
		{resolve, payment.ErrBusy, 409, "request-in-progress"},
		{assign, &payment.AssignedError{Assignee: "sam"}, 409, "discrepancy-assigned"},
		{assign, payment.ErrResolved, 409, "discrepancy-already-resolved"},
		{recheck, payment.ErrAttemptNotFound, 404, "not-found"},
		{recheck, payment.ErrBusy, 409, "request-in-progress"},
		{replay, payment.ErrEventNotFound, 404, "not-found"},
		{replay, payment.ErrEventUnreadable, 409, "event-unreadable"},
		{replay, payment.ErrUnavailable, 503, "storage-unavailable"},
	} {
		d.err = c.err
		path, body, _ := strings.Cut(c.call, " ")
		b.send(http.MethodPost, path, body, "Authorization: Bearer support").is(t, c.status, c.code)
	}
}

// onlyDeeds keeps the audit log and nothing else.
type onlyDeeds struct{ support.Store }

func (onlyDeeds) AuditInsert(context.Context, support.AuditEntry) error { return nil }

func TestBadSupportRequestsAreRefused(t *testing.T) {
	t.Parallel()
	desk := support.New(support.Options{Store: onlyDeeds{}})
	b := newBench(t, func(o *api.Options) {
		o.Support, o.Finder = desk, finder.New(nil, desk, time.Now)
		o.Worklist = worklist.New(worklist.Options{Audit: desk, Now: time.Now})
	})
	attempt, event := "/v1/support/attempts/"+attemptID.String(), "/v1/support/events/"+eventID.String()
	work := "/v1/support/discrepancies/" + eventID.String()
	resolve := work + "/resolve"
	for call, want := range map[string]string{
		"GET /v1/support/search ":                                                    "422 q",
		"GET /v1/support/search?q= ":                                                 "422 q",
		"GET /v1/support/search?q=%00 ":                                              "422 q",
		"GET /v1/support/search?q=%ff ":                                              "422 q",
		"GET /v1/support/search?q=" + strings.Repeat("a", 513) + " ":                 "422 q",
		"GET /v1/support/search?q=a&limit=0 ":                                        "422 limit",
		"GET /v1/support/search?q=a&limit=1e1 ":                                      "422 limit",
		"GET /v1/support/search?q=a&limit=101 ":                                      "422 limit",
		"GET /v1/support/search?q=a&cursor=!!! ":                                     "422 cursor",
		"GET /v1/support/discrepancies?limit=x ":                                     "422 limit",
		"GET /v1/support/discrepancies?cursor=MTIzIHg ":                              "422 cursor",
		"GET /v1/support/discrepancies?status=lost ":                                 "422 status",
		"GET /v1/support/discrepancies?kind=%00 ":                                    "422 kind",
		"GET /v1/support/discrepancies?kind=lost ":                                   "422 kind",
		"GET /v1/support/audit?cursor=a ":                                            "422 cursor",
		"GET /v1/support/audit?limit=-1 ":                                            "422 limit",
		"GET /v1/support/audit?actor=%00 ":                                           "422 actor",
		"GET /v1/support/attempts/nonsense ":                                         "404",
		"GET /v1/support/events/nonsense ":                                           "404",
		"POST /v1/support/discrepancies/nonsense/resolve " + because:                 "422 resolution",
		"POST " + attempt + "/recheck ":                                              "422 reason",
		"POST " + attempt + "/recheck {}":                                            "422 reason",
		"POST " + attempt + `/recheck {"reason":""}`:                                 "422 reason",
		"POST " + attempt + `/recheck {"reason":" \t "}`:                             "422 reason",
		"POST " + attempt + `/recheck {"reason":1}`:                                  "422 reason",
		"POST " + attempt + `/recheck {"reason":null}`:                               "422 reason",
		"POST " + attempt + `/recheck {"reason":"a\u0000"}`:                          "422 reason",
		"POST " + attempt + `/recheck {"reason":"` + strings.Repeat("a", 501) + `"}`: "422 reason",
		"POST " + attempt + `/recheck {"why":"x"}`:                                   "400",
		"POST " + event + "/reveal {}":                                               "422 reason",
		"POST " + event + "/replay {}":                                               "422 reason",
		"POST " + event + `/replay {"reason":"x","dry_run":"yes"}`:                   "422 dry_run",
		"POST " + resolve + ` {"resolution":"accepted"}`:                             "422 reason",
		"POST " + resolve + ` {"reason":"x"}`:                                        "422 resolution",
		"GET /v1/support/discrepancies?order=first ":                                 "422 order",
		"GET /v1/support/discrepancies?account=%00 ":                                 "422 account",
		"GET /v1/support/discrepancies?assignee=%ff ":                                "422 assignee",
		"GET /v1/support/discrepancies?opened_from=yesterday ":                       "422 opened_from",
		"GET /v1/support/discrepancies?opened_to=1 ":                                 "422 opened_to",
		"POST " + work + `/assign {"assignee":""}`:                                   "422 assignee",
		"POST " + work + `/assign {"assignee":"a b"}`:                                "422 assignee",
		"POST " + work + `/assign {"assignee":"cli:root"}`:                           "422 assignee",
		"POST " + work + `/assign {"assignee":7}`:                                    "422 assignee",
		"POST " + work + `/assign {"expected_assignee":false}`:                       "422 expected_assignee",
		"POST " + work + `/assign {"who":"me"}`:                                      "400",
		"POST " + work + "/comments {}":                                              "422 text",
		"POST " + work + `/comments {"text":""}`:                                     "422 text",
		"POST " + work + `/comments {"text":" \n "}`:                                 "422 text",
		"POST " + work + `/comments {"text":"` + strings.Repeat("é", 2001) + `"}`:    "422 text",
		"POST " + work + `/comments {"text":"a\u0000"}`:                              "422 text",
		"POST " + resolve + ` {"reason":"x","resolution":"lost"}`:                    "422 resolution",
	} {
		line := strings.SplitN(call, " ", 3)
		got := b.send(line[0], line[1], line[2], "Authorization: Bearer admin")
		status, field, _ := strings.Cut(want, " ")
		require.Equal(t, status, got.Status[:3], "%s: %s", call, got.text)
		if field != "" {
			require.Equal(t, field, got.is(t, 422, "validation-failed").Errors[0].Field, call)
		}
	}
}

func document(t *testing.T) *contract.Document {
	t.Helper()
	d, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	return d
}
