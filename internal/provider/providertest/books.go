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
	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/refund"
	"github.com/paylatch/paylatch/webhooks"
)

// BooksSuite is an adapter's books and the fake that they are tested against.
type BooksSuite struct {
	// New returns the books of an account whose API is at base.
	New func(t *testing.T, base string, client *http.Client) gateway.Books
	// Booked returns a provider that no other test uses, with what its books have.
	Booked func(t *testing.T) Booked
	// Listed is the time by which an entry is in a span; nil: that of its movement.
	Listed func(e gateway.Entry) time.Time
	// OnePage is set if the provider's answer to one request has the whole span.
	OnePage bool
	// Bare is set if the provider's lists are no members of an answer, but all of it: one without items is
	// an empty one.
	Bare bool
	// Aside reports requests that read no list (for an access token), which nothing happens to; nil: none.
	Aside func(r Request) bool
	// Spoil returns the first item of a page, nil if it has none, and what is to be in its place and can't be read;
	// nil: pages are JSON.
	Spoil func(page []byte) (item, spoilt []byte)
	// Provider returns the adapter that looks the payments of the entries up, at the same fake; nil if
	// the fake has no payments.
	Provider func(t *testing.T, base string, client *http.Client) gateway.Provider
}

// Booked is what the books of a fake have.
type Booked struct {
	Fake http.Handler
	// Span contains all entries, and no time long before them.
	Span gateway.Span
	// Entries are as the adapter has to pass them, on more than one page.
	Entries []gateway.Entry
	// Webhooks are events about the same payments; none if the fixture has none.
	Webhooks []webhooks.Event
}

// Books tests an adapter's books: all of a span is passed, whatever its edges, or else an error is
// returned; an item that can't be read hides no other; and the names of an entry are those of lookups and
// of webhooks.
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
	// Listed returns a provider that no other test uses, with what it lists.
	Listed func(t *testing.T) Listed
	// Reader reads the bodies of the provider's webhooks.
	Reader webhooks.Reader
	// OnePage is set if the provider's answer to one request has the whole span.
	OnePage bool
	// Aside reports requests that read no list (for an access token), which nothing happens to; nil: none.
	Aside func(r Request) bool
}

// Listed is what the event list of a fake has.
type Listed struct {
	Fake http.Handler
	// Span contains all events, and no time long before them.
	Span gateway.Span
	// Events are as the adapter has to pass them, on more than one page: the bodies as its webhooks had them.
	Events []gateway.ListedEvent
}

// EventLog tests an adapter's list of events as Books tests books, and that its bodies can be read as
// those of webhooks, each with an id of its own.
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

// bookNames asserts that an entry has the names by which its payment and its movement are recorded
// when they are looked up, and when a webhook reports them: other names would count the same money
// twice.
func bookNames(t *testing.T, s BooksSuite) {
	t.Helper()
	b := s.Booked(t)
	compared := 0
	if s.Provider != nil {
		l := newList(t, b.Fake, s.Aside, b.Span, b.Entries)
		p := s.Provider(t, l.base, l.client)
		for _, e := range b.Entries {
			o, err := p.Lookup(t.Context(), e.Payment)
			require.NoError(t, err, e.ID)
			require.Equal(t, o.ProviderPaymentID, e.Payment, e.ID)
			compared += requireNamed(t, e, gateway.Reports(o, payment.Cause{Kind: payment.CauseCheck}))
		}
		require.NotZero(t, compared, "no movement of an entry is in a lookup")
	}
	compared = 0
	for _, e := range b.Entries {
		compared += requireNamed(t, e, reportsOf(b.Webhooks, e.Payment))
	}
	require.True(t, compared > 0 || len(b.Webhooks) == 0, "no movement of an entry is in a webhook")
}

// reportsOf are the reports that webhooks contain about a payment, or about its refunds.
func reportsOf(events []webhooks.Event, payment string) (reports []payment.Report) {
	for _, e := range events {
		if r, ok := inbound.FromEvent(e, ""); ok && slices.Contains(r.Names(), payment) {
			reports = append(reports, r)
		}
	}
	return reports
}

// requireNamed asserts that reports which have movements of an entry's kind have one of its id. It
// returns 0 if there is none of that kind.
func requireNamed(t *testing.T, e gateway.Entry, reports []payment.Report) int {
	t.Helper()
	var ids []string
	for _, r := range reports {
		told := r.Movements
		if r.Refund != nil {
			told = append(slices.Clone(told), refund.Movements(*r.Refund, &payment.Attempt{}, nil)...)
		}
		for _, m := range told {
			if m.Kind == e.Movement.Kind && !m.Reserve {
				ids = append(ids, nameOf(m, e.Payment))
			}
		}
	}
	if len(ids) == 0 {
		return 0
	}
	require.Contains(t, ids, nameOf(e.Movement, e.Payment), "entry %s, a %s of %s", e.ID, e.Movement.Kind, e.Payment)
	return 1
}

// nameOf is what a movement is known by: its own id, or its dispute. One that is named by its payment alone is in a
// total of that.
func nameOf(m payment.Told, of string) string {
	if m.ID == "" && m.Dispute == of {
		return ""
	}
	return cmp.Or(m.ID, m.Dispute)
}
