package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/conformance/account"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestLeftInLiveMode: payments of real money that can't be refunded are named by the error, with the provider's ids.
func TestLeftInLiveMode(t *testing.T) {
	t.Parallel()
	for name, keyless := range map[string]bool{"found": false, "unknown without its answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, func(r *http.Request, _ http.Header, body string) string {
				if strings.HasPrefix(r.URL.Path, "/v1/charges") {
					return strings.Replace(body, `{`, `{"test":false,`, 1)
				}
				return body
			})
			o := p.options(t)
			build, of := o.Build, &unrefundable{keyless: keyless}
			o.Build = func(c *http.Client) (gateway.Account, error) {
				a, err := build(c)
				of.Provider, a.Provider = a.Provider, of
				return a, err
			}
			var lines []string
			_, err := account.Run(t.Context(), o, func(r account.Result) { lines = append(lines, r.Line()) })
			require.ErrorAs(t, err, new(account.LiveError))
			require.NotEmpty(t, of.charged)
			require.ErrorContains(t, err, of.charged)
			require.ErrorContains(t, err, "refunds are off")
			require.NotContains(t, err.Error(), "test payments")
			require.Len(t, lines, 1)
			require.Contains(t, lines[0], "clean-up")
			require.Contains(t, lines[0], of.charged)
		})
	}
}

// unrefundable is a provider that refuses refunds; a keyless one finds no payment by our reference or key either.
type unrefundable struct {
	gateway.Provider

	keyless bool
	charged string
}

func (p *unrefundable) Capabilities() payment.Capabilities {
	can := p.Provider.Capabilities()
	if p.keyless {
		can.Lookup, can.KeyLife = payment.LookupByID, 0
	}
	return can
}

func (p *unrefundable) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	o, err := p.Provider.Charge(ctx, c)
	p.charged = o.ProviderPaymentID
	return o, err
}

func (*unrefundable) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, errors.New("refunds are off")
}

// TestTheLookupBeforehand has the form of the provider's ids, since an adapter does not send an id of another form.
func TestTheLookupBeforehand(t *testing.T) {
	t.Parallel()
	p := newProvider(t, nil)
	o := p.options(t)
	o.Absent = "ch_00000000000000000000000000000000"
	run(t, o)
	require.Equal(t, "GET /v1/charges/"+o.Absent, p.seen[0])
}

// TestARefundThatFailsLater: the provider accepts a refund, and a lookup then reports that it has failed. The case fails, and the clean-up
// refunds the whole payment.
func TestARefundThatFailsLater(t *testing.T) {
	t.Parallel()
	for name, shows := range map[string]payment.Shows{"found by its id": payment.ShowsPayment, "shown by the payment": payment.ShowsRefunds} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, nil)
			o := p.options(t)
			build, of := o.Build, &bouncing{shows: shows, refunded: map[string]int64{}}
			o.Build = func(c *http.Client) (gateway.Account, error) {
				a, err := build(c)
				of.Provider, a.Provider = a.Provider, of
				return a, err
			}
			report := run(t, o)
			for _, c := range report.Cases {
				if strings.HasPrefix(c.Case, "refund of") {
					require.Equal(t, account.Failed, c.Verdict, c.Line())
					require.Equal(t, account.FaultUnexpected, c.Fault)
					require.Contains(t, c.Text, "failed")
				}
			}
			require.Empty(t, report.Left)
			require.Len(t, of.of, 2)
			for _, id := range of.of {
				require.Equal(t, int64(1999), of.refunded[id], "a failed refund counts as no refund")
			}
		})
	}
}

// bouncing is a provider whose first two refunds are accepted and fail later.
type bouncing struct {
	gateway.Provider

	shows  payment.Shows
	failed []gateway.RefundOutcome
	// of are the payments of the failed refunds; refunded is what was refunded of each payment.
	of       []string
	refunded map[string]int64
}

func (p *bouncing) Capabilities() payment.Capabilities {
	can := p.Provider.Capabilities()
	can.Shows = p.shows
	if p.shows >= payment.ShowsRefunds {
		can.RefundLookup = payment.RefundLookupNone
	}
	return can
}

func (p *bouncing) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	if len(p.failed) == 2 {
		p.refunded[c.ProviderPaymentID] += c.Money.Minor
		return p.Provider.Refund(ctx, c)
	}
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: fmt.Sprintf("re_%d", len(p.failed)), Money: &c.Money}
	p.of = append(p.of, c.ProviderPaymentID)
	failed := o
	failed.Event = fsm.EventFailed
	p.failed = append(p.failed, failed)
	return o, nil
}

func (p *bouncing) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return p.failed[len(p.failed)-1], nil
}

func (p *bouncing) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	o, err := p.Provider.Lookup(ctx, id)
	if slices.Contains(p.of, id) && p.shows >= payment.ShowsRefunds {
		o.Refunds = append(o.Refunds, p.failed...)
	}
	return o, err
}

// TestMoneyOfADeclineInTheBooks: the books must not have money of a payment that was declined, or whose hold was released.
func TestMoneyOfADeclineInTheBooks(t *testing.T) {
	t.Parallel()
	for name, cancelled := range map[string]bool{"declined": false, "released": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, nil)
			o := p.options(t)
			o.Wait = 10 * time.Millisecond
			build, of := o.Build, &unpaid{cancelled: cancelled}
			o.Build = func(c *http.Client) (gateway.Account, error) {
				a, err := build(c)
				of.Provider, of.Books = a.Provider, a.Books
				a.Provider, a.Books = of, of
				return a, err
			}
			report := run(t, o)
			require.NotEmpty(t, of.id)
			for _, c := range report.Cases {
				if c.Case == "books" {
					require.Equal(t, account.Failed, c.Verdict, c.Text)
					require.Equal(t, account.FaultDifferingInBooks, c.Fault)
					require.Contains(t, c.Text, of.id)
				}
			}
		})
	}
}

// unpaid is a provider whose books have money of a payment that was not paid: a declined or a cancelled one.
type unpaid struct {
	gateway.Provider
	gateway.Books

	cancelled bool
	id        string
}

func (p *unpaid) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	o, err := p.Provider.Charge(ctx, c)
	if !p.cancelled && o.Event == fsm.EventFailed {
		p.id = o.ProviderPaymentID
	}
	return o, err
}

func (p *unpaid) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	if p.cancelled && p.id == "" {
		p.id = c.ProviderPaymentID
	}
	return p.Provider.Cancel(ctx, c)
}

func (p *unpaid) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	return errors.Join(p.Books.Entries(ctx, in, take), take(gateway.Entry{
		ID: "e_1", Payment: p.id, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: payment.Money{Minor: 1999, Currency: "EUR"}, At: in.From},
	}))
}
