package reconcile_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

// statement reads lines of: entry payment amount days-ago. A payout has "payout" as its payment.
func (b *bank) statement(file io.Reader, take func(gateway.Entry) error) error {
	for {
		var id, of string
		var minor, days int64
		if _, err := fmt.Fscan(file, &id, &of, &minor, &days); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if of == "payout" {
			m := euros(minor)
			if err := take(gateway.Entry{Paid: &payment.PayoutReport{ProviderID: id, Money: &m}}); err != nil {
				return err
			}
			continue
		}
		e := reconcileEntry(id, of, payment.MovementCapture, "", euros(minor))
		e.Movement.At = e.Movement.At.AddDate(0, 0, -int(days))
		if err := take(e); err != nil {
			return err
		}
	}
}

func fromFile(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1")
	of := func(text string) func(*reconcile.Request) {
		return func(q *reconcile.Request) { q.File = strings.NewReader(text) }
	}
	r.reconcile(t, of("c1 "+a.ProviderPaymentID+" 1999 0\nc2 pay_old 5 9\nc3 pay_foreign 5 0\npo1 payout 1999 0\n"))
	require.Equal(t, []string{"po1 1999 EUR"}, rows(t, r, "SELECT concat_ws(' ', provider_payout_id, amount, currency) FROM payouts"))
	require.Equal(t, reconcile.Count{Entries: 3, Agreed: 1, Outside: 1, Foreign: 1}, r.count)
	require.Equal(t, []string{"c1 A-1 capture 1999 - -  "}, r.settlements(t))
	require.Equal(t, []string{"file"}, rows(t, r, "SELECT source FROM reconciliations"))
	require.ErrorContains(t, r.tryReconcile(t, of("c1 pay_A-1 much")), "read the entries")
}

func nothingToRead(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for name, tt := range map[string]struct {
		file io.Reader
		want error
		text string
	}{
		"bookless": {nil, reconcile.ErrNoBooks, "compare with the provider's dashboard"},
		"filed":    {nil, reconcile.ErrNoBooks, "pass it with --file"},
		"strict":   {strings.NewReader(""), reconcile.ErrNoStatement, "can't read files"},
	} {
		err := r.tryReconcile(t, func(q *reconcile.Request) { q.Account, q.File = name, tt.file })
		require.ErrorIs(t, err, tt.want, name)
		require.ErrorContains(t, err, tt.text, name)
	}
	require.Empty(t, rows(t, r, "SELECT source FROM reconciliations"))
}
