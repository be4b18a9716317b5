package lemonsqueezy_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/lemonsqueezy"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/lemonsqueezy"
)

// midnight is the beginning of the fixture's day.
var midnight = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func hours(n float64) time.Time { return midnight.Add(time.Duration(n * float64(time.Hour))) }

func date() gateway.Span { return gateway.Span{From: midnight, To: midnight.AddDate(0, 0, 1)} }

// sold returns orders of all kinds from several days, oldest first.
func sold() *fake {
	f := newFake()
	f.most = 2
	for i, o := range []order{
		{status: "refunded", total: 1999, refunded: 1999, made: hours(-2950), changed: hours(1), back: hours(1)},
		{status: "paid", total: 1, made: hours(-2949), changed: hours(-2949)},
		{status: "paid", total: 1, made: hours(-2948), changed: hours(-2948)},
		{status: "refunded", total: 1999, refunded: 1999, made: hours(-900), changed: hours(7), back: hours(6)},
		{status: "paid", total: 700, refunded: 200, made: hours(-30), changed: hours(-29)},
		{status: "partial_refund", total: 1500, refunded: 300, made: hours(-20), changed: hours(8)},
		{status: "paid", total: 1200, made: hours(1), changed: hours(1)},
		{status: "paid", total: 1200, made: hours(2), changed: hours(2), test: true},
		{status: "pending", total: 1200, made: hours(2), changed: hours(2)},
		{status: "failed", total: 1200, made: hours(2), changed: hours(2)},
		{status: "fraudulent", total: 1200, made: hours(2), changed: hours(2)},
		{status: "paid", total: 0, made: hours(3), changed: hours(3)},
		{status: "paid", total: 1300, made: hours(4), changed: hours(4)},
		{status: "paid", total: 1400, made: hours(24), changed: hours(24)},
	} {
		o.id, o.currency = strconv.Itoa(5001+i), "EUR"
		f.orders = append(f.orders, &o)
	}
	return f
}

func capture(id string, minor int64, at time.Time) gateway.Entry {
	return gateway.Entry{
		ID: id, Payment: id, Payee: storeID, Live: new(true), References: []string{"104e18a2-d755-4d4b-80c4-" + fmt.Sprintf("%012s", id)},
		Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: euro(minor), At: at},
	}
}

func back(of string, minor int64, at time.Time) gateway.Entry {
	e := capture(of, minor, at)
	e.ID, e.Movement.Kind, e.Grows = of+"/refund", payment.MovementRefund, true
	return e
}

func told(t *testing.T, name, id, status string, total, refunded int) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret1"}})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"meta":{"event_name":%q},"data":{"type":"orders","id":%q,"attributes":{"status":%q,"currency":"EUR","total":%d,"refunded_amount":%d}}}`, name, id, status, total, refunded)
	return v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)})[0]
}

func booked(t *testing.T) providertest.Booked {
	t.Helper()
	return providertest.Booked{
		Fake: sold(), Span: date(),
		Entries: []gateway.Entry{
			capture("5004", 1999, hours(-900)), back("5004", 1999, hours(6)),
			capture("5006", 1500, hours(-20)), back("5006", 300, hours(8)),
			capture("5007", 1200, hours(1)), capture("5013", 1300, hours(4)),
		},
		Webhooks: []webhooks.Event{
			told(t, "order_created", "5004", "paid", 1999, 0), told(t, "order_refunded", "5004", "refunded", 1999, 1999),
			told(t, "order_refunded", "5006", "partial_refund", 1500, 300), told(t, "order_created", "5007", "paid", 1200, 0),
		},
	}
}

// A lookup has only totals, which include the order. So the names are compared with webhooks alone.
func TestBooks(t *testing.T) {
	t.Parallel()
	changed := map[string]time.Time{"5004": hours(7), "5006": hours(8)}
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books {
			return lemonsqueezy.New(base, key, store(), c, time.Now)
		},
		Booked: booked,
		Listed: func(e gateway.Entry) time.Time {
			if at, later := changed[e.ID]; later {
				return at
			}
			return e.Movement.At
		},
	})
}

// entriesOf returns the ids of a span's entries, and the error after them.
func entriesOf(t *testing.T, c *lemonsqueezy.Client, in gateway.Span) (ids []string, err error) {
	t.Helper()
	err = c.Entries(t.Context(), in, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	return ids, err
}

// The list is read back only as far as orders may still be refunded.
func TestBooksStopAtWhatIsOlder(t *testing.T) {
	t.Parallel()
	c, got := serve(t, sold(), store())
	_, err := entriesOf(t, c, date())
	require.NoError(t, err)
	require.Len(t, lines(got), 6, "5003 is too old, and 5001 on the next page is not read")
}

// Test payments are only in the books of an account for tests.
func TestBooksOfTestPayments(t *testing.T) {
	t.Parallel()
	tests := store()
	tests.Test = true
	c, _ := serve(t, sold(), tests)
	ids, err := entriesOf(t, c, date())
	require.NoError(t, err)
	require.Equal(t, []string{"5008"}, ids)
}

// An order that is created while the list is read shifts the others, and hides none of them.
func TestBooksWhileOrdersAreMade(t *testing.T) {
	t.Parallel()
	f := sold()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.ServeHTTP(w, r)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.orders = append(f.orders, &order{id: strconv.Itoa(5001 + len(f.orders)), status: "paid", currency: "EUR", total: 1, made: hours(48), changed: hours(48)})
	}), store())
	ids, err := entriesOf(t, c, date())
	require.NoError(t, err)
	require.Subset(t, ids, []string{"5004", "5004/refund", "5006", "5006/refund", "5007", "5013"})
}

// An unreadable order that may belong to the span is an error, and hides no other order.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	const good = `{"type":"orders","id":"2","attributes":{"status":"paid","currency":"EUR","total":1,"created_at":"2026-03-14T01:00:00.000000Z"}}`
	for odd, unread := range map[string]bool{
		`{}`:   true,
		`null`: true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"EUR","total":1}}`:                                                                      true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"EUR","total":1.5,"created_at":"2026-03-14T01:00:00Z"}}`:                                true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"EUR","created_at":"2026-03-14T01:00:00Z"}}`:                                            true,
		`{"type":"orders","id":"x","attributes":{"status":"paid","currency":"EUR","total":1,"created_at":"2026-03-14T01:00:00Z"}}`:                                  true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"","total":1,"created_at":"2026-03-14T01:00:00Z"}}`:                                     true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"EUR","total":5,"refunded_amount":-1,"created_at":"2026-03-14T01:00:00Z"}}`:             true,
		`{"type":"orders","id":"1","attributes":{"status":"paid","currency":"EUR","created_at":"2026-03-12T01:00:00Z"}}`:                                            false,
		`{"type":"orders","id":"1","attributes":{"status":"marinating","currency":"EUR","total":1,"refunded_amount":1,"created_at":"2026-03-14T01:00:00.000000Z"}}`: false,
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"meta":{"page":{"lastPage":1}},"data":[`+odd+`,`+good+`]}`)
		}), store())
		ids, err := entriesOf(t, c, date())
		require.Equal(t, []string{"2"}, ids, odd)
		require.Equal(t, unread, errors.Is(err, gateway.ErrUnreadable), "%s: %v", odd, err)
		require.True(t, unread || err == nil, "%s: %v", odd, err)
	}
}
