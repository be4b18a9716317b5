package comgate_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

type object = map[string]any

// monday is the day of the fixture's first payments.
var monday = time.Date(2026, 3, 23, 0, 0, 0, 0, time.UTC)

const (
	first, second = "AAAA-AAAA-0001", "AAAA-AAAA-0002"
	ourAttempt    = "019d1000-0000-7000-8000-000000000001"
	ourRefund     = "019d2000-0000-7000-8000-000000000001"
)

// shop is a fake with payments by refId, and with lists of transfers by day.
type shop struct {
	refs      map[string]string
	transfers map[string][]object
	lines     map[string][]object
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.Method != http.MethodPost || r.PostForm.Get("merchant") != comgatetest.Merchant || r.PostForm.Get("secret") != comgatetest.Secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.URL.Path {
	case "/v1.0/transferList":
		write(w, s.transfers[r.PostForm.Get("date")])
	case "/v1.0/singleTransfer":
		write(w, s.lines[r.PostForm.Get("transferId")])
	case "/v1.0/status":
		v := url.Values{"code": {"1400"}, "message": {"Payment not found"}}
		id := r.PostForm.Get("transId")
		if ref, known := s.refs[id]; known {
			v = url.Values{"code": {"0"}, "transId": {id}, "refId": {ref}, "status": {"PAID"}, "price": {"1999"}, "curr": {"CZK"}}
		}
		_, _ = w.Write([]byte(v.Encode()))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func write(w http.ResponseWriter, items []object) {
	_ = json.NewEncoder(w).Encode(append([]object{}, items...)) //nolint:errchkjson // a map of texts and numbers
}

func paidLine(id, ref, paid string, more object) object {
	l := object{
		"typ": 1, "Merchant": comgatetest.Merchant, "Datum založení": paid, "Datum zaplacení": paid, "Datum převodu": "2026-03-24", "ID ComGate": id,
		"Metoda": "Karta online", "Produkt": "", "Popis": "A-1", "Variabilní symbol převodu": "1811321483", "ID od klienta": ref, "Měna": "CZK",
		"Potvrzená částka": "19,99", "Převedená částka": "19,79", "Poplatek celkem": "0,20",
	}
	maps.Copy(l, more)
	return l
}

func refundLine(id, ref, amount string) object {
	return paidLine(id, ref, "2026-03-23 10:00:00", object{"typ": 2, "Potvrzená částka": amount, "Převedená částka": amount, "Poplatek celkem": "0,00"})
}

// transferring returns a shop with one transfer on Tuesday and two on Friday. Each payment is paid at 9 in the morning,
// the first before the change to summer time and the second after it. The first payment has three partial refunds: by
// paylatch, in the portal, and by the shop's own call.
func transferring() *shop {
	sum := object{"typ": 5, "Merchant": "-", "ID ComGate": "", "Popis": "suma", "Měna": "CZK", "Potvrzená částka": "0,00"}
	list := func(id int) object {
		return object{"transferId": id, "transferDate": "2026-03-24", "accountCounterparty": "0/0000", "accountOutgoing": "1/0300", "variableSymbol": "1"}
	}
	return &shop{
		refs:      map[string]string{first: ourAttempt, second: "shop-2"},
		transfers: map[string][]object{"2026-03-24": {list(5211530)}, "2026-03-31": {list(5211531), list(5211532)}},
		lines: map[string][]object{
			"5211530": {
				paidLine(first, ourAttempt, "2026-03-23 09:00:00", nil),
				paidLine("AAAA-AAAA-0009", "other", "2026-03-23 09:00:00", object{"Merchant": "999"}), sum,
			},
			"5211531": {
				refundLine(first, ourRefund, "-1,00"), refundLine(first, ourAttempt, "-2,00"), refundLine(first, "R-1", "-3,00"), sum,
			},
			"5211532": {
				{
					"typ": "1", "Datum zaplaceni": "2026-03-30 09:00:00", "ID Comgate": second, "ID od klienta": "shop-2", "Mena": "EUR", "Potvrzena castka": "5.00",
					"Prevedena castka": "4.00", "Poplatek celkem": "0.99",
				},
				refundLine(second, "shop-2", "0,50"),
				{"typ": 3, "Produkt": "Měsíční poplatek", "Převedená částka": "-100,00"},
				{"typ": 4, "ID ComGate": first, "Převedená částka": "-19,99"},
				sum,
			},
		},
	}
}

func booked(*testing.T) providertest.Booked {
	tuesday := time.Date(2026, 3, 30, 22, 0, 0, 0, time.UTC)
	refund := func(id, of, ref, payout string, minor int64, net bool) gateway.Entry {
		e := gateway.Entry{
			ID: id, Payment: of, Payee: comgatetest.Merchant, References: []string{ref}, Payout: payout,
			Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: id, Money: czk(minor), At: tuesday},
		}
		if net {
			e.Net = new(czk(-minor))
		}
		return e
	}
	unnamed := refund(first+"/5211531", first, ourAttempt, "5211531", 500, false)
	euro := func(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }
	return providertest.Booked{
		Fake: transferring(), Span: gateway.Span{From: monday, To: monday.AddDate(0, 0, 10)},
		Entries: []gateway.Entry{
			{
				ID: first, Payment: first, Payee: comgatetest.Merchant, References: []string{ourAttempt}, Payout: "5211530", Fee: new(czk(20)), Net: new(czk(1979)),
				Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: czk(1999), At: monday.Add(8 * time.Hour)},
			},
			{
				ID: second, Payment: second, References: []string{"shop-2"}, Payout: "5211532", Net: new(euro(400)),
				Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: euro(500), At: monday.AddDate(0, 0, 7).Add(7 * time.Hour)},
			},
			refund(ourRefund, first, ourAttempt, "5211531", 100, true), unnamed, refund(second+"/5211532", second, "shop-2", "5211532", 50, false),
		},
	}
}

func reading(base string, c *http.Client) *comgate.Client {
	client := comgate.New(base, comgatetest.Merchant, comgatetest.Secret, c)
	client.Now = func() time.Time { return monday.AddDate(0, 1, 0) }
	return client
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:      func(_ *testing.T, base string, c *http.Client) gateway.Books { return reading(base, c) },
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return reading(base, c) },
		Booked:   booked, Bare: true,
		Aside: func(r providertest.Request) bool { return r.Path == "/v1.0/status" },
	})
}

// listing returns the ids of Monday's entries, and the error after them.
func listing(t *testing.T, h http.Handler) (ids []string, err error) {
	t.Helper()
	c, _ := serve(t, h)
	c.Now = func() time.Time { return monday.AddDate(0, 0, 2) }
	err = c.Entries(t.Context(), gateway.Span{From: monday, To: monday.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	return ids, err
}

// An unreadable line is an error and not a missing entry, and hides no other line.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]object{
		"no type":            paidLine(second, "r", "2026-03-23 09:00:00", object{"typ": nil}),
		"no payment":         paidLine("", "r", "2026-03-23 09:00:00", nil),
		"no amount":          paidLine(second, "r", "2026-03-23 09:00:00", object{"Potvrzená částka": ""}),
		"a negative payment": paidLine(second, "r", "2026-03-23 09:00:00", object{"Potvrzená částka": "-1,00"}),
		"thousands":          paidLine(second, "r", "2026-03-23 09:00:00", object{"Potvrzená částka": "1.000,00"}),
		"no currency":        paidLine(second, "r", "2026-03-23 09:00:00", object{"Měna": ""}),
		"no time":            paidLine(second, "r", "yesterday", nil),
		"a refund's amount":  refundLine(second, "r", "all"),
		"a refund of none":   refundLine("AAAA-AAAA-0404", "r", "1,00"),
		"nothing":            nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := transferring()
			s.lines["5211530"] = slices.Insert(s.lines["5211530"], 0, odd)
			ids, err := listing(t, s)
			require.ErrorIs(t, err, gateway.ErrUnreadable)
			require.Equal(t, []string{first}, ids)
		})
	}
	refused := transferring()
	refused.lines["5211530"] = append(refused.lines["5211530"], refundLine(first, ourRefund, "1,00"))
	ids, err := listing(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1.0/status" { // the lists were answered before, so the payment itself is wrong
			says("code=1400&message=x").ServeHTTP(w, r)
			return
		}
		refused.ServeHTTP(w, r)
	}))
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.Equal(t, []string{first}, ids)
	s := transferring()
	s.transfers["2026-03-24"] = slices.Insert(s.transfers["2026-03-24"], 0, object{"transferDate": "2026-03-24"})
	ids, err = listing(t, s)
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.Equal(t, []string{first}, ids)
}

// An answer that is not a list, or a transfer without lines, leaves the books unknown, so they are read again.
func TestBooksThatAreNotThere(t *testing.T) {
	t.Parallel()
	for path, answers := range map[string][]string{
		"/v1.0/transferList":   {"code=1400&message=Unauthorized+access%21", `{"code":1400,"message":"x"}`, `{"code":"0"}`, "It works!"},
		"/v1.0/singleTransfer": {"[]", "code=1100", `{"nazev":"a.csv"}`},
		"/v1.0/status":         {"code=1500", "It works!"},
	} {
		for _, answer := range answers {
			s := transferring()
			s.lines["5211530"] = append(s.lines["5211530"], refundLine(first, ourRefund, "1,00"))
			_, err := listing(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					says(answer).ServeHTTP(w, r)
					return
				}
				s.ServeHTTP(w, r)
			}))
			require.Error(t, err, "%s: %s", path, answer)
			if strings.Contains(answer, "1400") {
				require.ErrorContains(t, err, "allows the address")
			}
			require.NotErrorIs(t, err, gateway.ErrUnreadable, "%s: %s", path, answer)
			require.NotContains(t, err.Error(), comgatetest.Secret)
		}
	}
}

// A shop without transfers has empty books.
func TestBooksWithoutTransfers(t *testing.T) {
	t.Parallel()
	ids, err := listing(t, comgatetest.New())
	require.NoError(t, err)
	require.Empty(t, ids)
}

// A transfer belongs to a day in Prague's time zone. Days that have not begun have no transfers.
func TestBooksAreReadByDays(t *testing.T) {
	t.Parallel()
	var days []string
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		days = append(days, r.PostForm.Get("date"))
		write(w, nil)
	}))
	read := func(now, from, to time.Time) []string {
		days = nil
		c.Now = func() time.Time { return now }
		require.NoError(t, c.Entries(t.Context(), gateway.Span{From: from, To: to}, func(gateway.Entry) error { return nil }))
		return days
	}
	midnight := monday.Add(23 * time.Hour)
	now, to := midnight.Add(time.Second), midnight.Add(time.Hour)
	require.Equal(t, []string{"2026-03-24"}, read(now, midnight, to))
	require.Equal(t, []string{"2026-03-23", "2026-03-24"}, read(now, midnight.Add(-time.Second), to))
	require.Len(t, read(monday.AddDate(0, 1, 0), monday, monday.AddDate(0, 0, 1)), 9, "its own day, a week, and an hour of the next")
}

// Test payments are never transferred, so an account for tests has no books. Any other account has its shop's lists.
func TestAnAccountForTestsHasNoBooks(t *testing.T) {
	t.Parallel()
	settings := kit.Settings{Params: map[string]string{"merchant": "1", "webhook_secret": "s", "test_payments": "true"}, Client: http.DefaultClient}
	books, err := comgate.Adapter().Books(settings)
	require.NoError(t, err)
	require.Nil(t, books)
	settings.Params["test_payments"] = "false"
	books, err = comgate.Adapter().Books(settings)
	require.NoError(t, err)
	require.NotNil(t, books)
}
