package providertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// BooksSuite is an adapter's books and the fake that they are tested against.
type BooksSuite struct {
	// New returns the books of an account whose API is at base.
	New func(t *testing.T, base string, client *http.Client) gateway.Books
	// Booked returns a fake provider that no other test uses, together with the contents of its books.
	Booked func(t *testing.T) Booked
	// Listed returns the time that decides whether an entry is in a span. If it is nil, the movement's time decides.
	Listed func(e gateway.Entry) time.Time
	// OnePage is set if the provider's answer to one request has the whole span.
	OnePage bool
	// Bare is set if the provider's lists are not members of an answer but the whole answer. An empty list is then an
	// answer without items.
	Bare bool
	// Aside reports requests that read no list, such as a request for an access token. Faults do not touch them. Nil
	// reports no request.
	Aside func(r Request) bool
	// Spoil returns the first item of a page and an unreadable item to put in its place. The first item is nil if the
	// page has no items. If Spoil is nil, pages are JSON.
	Spoil func(page []byte) (item, spoilt []byte)
	// Provider returns the adapter that looks up the payments of the entries at the same fake. It is nil if the fake has
	// no payments.
	Provider func(t *testing.T, base string, client *http.Client) gateway.Provider
}

// Booked is the contents of a fake's books.
type Booked struct {
	Fake http.Handler
	// Span contains all entries. It does not begin long before the first entry.
	Span gateway.Span
	// Entries are the entries that the adapter must pass. They fill more than one page.
	Entries []gateway.Entry
	// Webhooks are events about the same payments; none if the fixture has none.
	Webhooks []webhooks.Event
}

// Books tests an adapter's books. The adapter must pass all entries of a span, whatever the span's edges, or return an
// error. An unreadable item must not hide another item. An entry must have the same names as lookups and webhooks.
func Books(t *testing.T, s BooksSuite) {
	t.Helper()
	if s.Listed == nil {
		s.Listed = func(e gateway.Entry) time.Time { return e.Movement.At }
	}
	runList(t, func(t *testing.T) *list[gateway.Entry] {
		t.Helper()
		b := s.Booked(t)
		l := newList(t, b.Fake, s.Aside, b.Span, b.Entries)
		l.read = s.New(t, l.base, l.client).Entries
		l.id, l.at, l.onePage = func(e gateway.Entry) string { return e.ID }, s.Listed, s.OnePage
		l.of, l.bare = entryOf, s.Bare
		if s.Spoil != nil {
			l.spoil, l.of = s.Spoil, entryIn
		}
		return l
	})
	t.Run("names", func(t *testing.T) {
		t.Parallel()
		bookNames(t, s)
	})
}

// EventLogSuite is an adapter's list of events and the fake that it is tested against.
type EventLogSuite struct {
	// New returns the event list of an account whose API is at base.
	New func(t *testing.T, base string, client *http.Client) gateway.EventLog
	// Listed returns a fake provider that no other test uses, together with the events that it lists.
	Listed func(t *testing.T) Listed
	// Reader reads the bodies of the provider's webhooks.
	Reader webhooks.Reader
	// OnePage is set if the provider's answer to one request has the whole span.
	OnePage bool
	// Aside reports requests that read no list, such as a request for an access token. Faults do not touch them. Nil
	// reports no request.
	Aside func(r Request) bool
}

// Listed is the contents of a fake's event list.
type Listed struct {
	Fake http.Handler
	// Span contains all events. It does not begin long before the first event.
	Span gateway.Span
	// Events are the events that the adapter must pass, with the bodies of the provider's webhooks. They fill more than
	// one page.
	Events []gateway.ListedEvent
}

// EventLog tests an adapter's event list in the same way as Books tests books. It also asserts that a webhook reader can
// read each body, and that each body has its own id.
func EventLog(t *testing.T, s EventLogSuite) {
	t.Helper()
	runList(t, func(t *testing.T) *list[gateway.ListedEvent] {
		t.Helper()
		listed := s.Listed(t)
		l := newList(t, listed.Fake, s.Aside, listed.Span, listed.Events)
		l.read = s.New(t, l.base, l.client).Events
		l.id, l.at = func(e gateway.ListedEvent) string { return string(e.Body) }, func(e gateway.ListedEvent) time.Time { return e.At }
		l.of = func(e gateway.ListedEvent, item json.RawMessage) bool { return bytes.Contains(e.Body, item) }
		l.onePage = s.OnePage
		return l
	})
	t.Run("readable", func(t *testing.T) {
		t.Parallel()
		ids := map[string]bool{}
		for _, e := range s.Listed(t).Events {
			for _, read := range s.Reader.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: e.Body, ReceivedAt: e.At}) {
				require.NotEqual(t, webhooks.KindUnreadable, read.Kind, read.Unreadable)
				require.NotEmpty(t, read.ID, string(e.Body))
				require.False(t, ids[read.ID], "two events have the id %s", read.ID)
				ids[read.ID] = true
			}
		}
		require.NotEmpty(t, ids)
	})
}

// bookNames asserts that an entry names its payment and its movement as lookups and webhooks do. Different names would
// count the same money twice.
func bookNames(t *testing.T, s BooksSuite) {
	t.Helper()
	b := s.Booked(t)
	compared := 0
	if s.Provider != nil {
		l := newList(t, b.Fake, s.Aside, b.Span, b.Entries)
		p := s.Provider(t, l.base, l.client)
		for _, e := range b.Entries {
			if e.Own != "" {
				continue
			}
			o, err := p.Lookup(t.Context(), e.Payment)
			require.NoError(t, err, e.ID)
			require.Equal(t, o.ProviderPaymentID, e.Payment, e.ID)
			compared += requireNamed(t, e, gateway.Reports(o, payment.Cause{Kind: payment.CauseCheck}))
		}
		require.NotZero(t, compared, "no movement of an entry is in a lookup")
	}
	compared = 0
	for _, e := range b.Entries {
		if e.Own != "" {
			continue
		}
		compared += requireNamed(t, e, reportsOf(b.Webhooks, e.Payment))
	}
	require.True(t, compared > 0 || len(b.Webhooks) == 0, "no movement of an entry is in a webhook")
}

// reportsOf returns the webhooks' reports about a payment or about its refunds.
func reportsOf(events []webhooks.Event, id string) (reports []payment.Report) {
	for _, e := range events {
		if r, ok := payment.ReportOfEvent(e, ""); ok && slices.Contains(r.Names(), id) {
			reports = append(reports, r)
		}
	}
	return reports
}

// requireNamed asserts that the reports contain the entry's movement id, if they contain movements of the entry's kind.
// It returns 0 if they contain no movement of that kind.
func requireNamed(t *testing.T, e gateway.Entry, reports []payment.Report) int {
	t.Helper()
	var ids []string
	for _, r := range reports {
		told := r.Movements
		if r.Refund != nil {
			told = append(slices.Clone(told), payment.RefundMovements(*r.Refund, &payment.Attempt{}, nil)...)
		}
		for _, m := range told {
			m = m.AsTotal() // a hold of one capture
			if m.Kind == e.Movement.Kind && !m.Reserve {
				ids = append(ids, nameOf(m, e.Payment))
			}
		}
	}
	if len(ids) == 0 {
		return 0
	}
	require.Contains(t, ids, nameOf(e.Movement.AsTotal(), e.Payment), "entry %s, a %s of %s", e.ID, e.Movement.Kind, e.Payment)
	return 1
}

// nameOf returns the name of a movement: its own id, or its dispute's id. It returns "" for a movement that is named by
// its payment alone, because that movement is part of the payment's total.
func nameOf(m payment.MovementReport, of string) string {
	if m.ID == "" && m.Dispute == of {
		return ""
	}
	return cmp.Or(m.ID, m.Dispute)
}
