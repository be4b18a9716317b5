package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
)

// A payout is explained to the minor unit, or its difference is named.
func TestAPayoutsExplanation(t *testing.T) {
	t.Parallel()
	sum := func(entries, settled, others int64) []journal.PayoutSum {
		return []journal.PayoutSum{{Currency: "EUR", Entries: entries, Settled: settled, Others: others}}
	}
	for name, tc := range map[string]struct {
		minor int64
		sums  []journal.PayoutSum
		want  []string
	}{
		"whole":             {1911, sum(3, 1911, 0), []string{"Explained by 3 entries."}},
		"one entry":         {-5, sum(1, -5, 0), []string{"Explained by 1 entry."}},
		"no entry":          {1911, nil, []string{"No entry of the books names it."}},
		"a cent more":       {1912, sum(3, 1911, 0), []string{"€19.11 of payments recorded here.", "€0.01 that no entry has."}},
		"a fee":             {1886, sum(3, 1911, -25), []string{"€19.11 of payments recorded here.", "-€0.25 of entries without a payment recorded here."}},
		"both":              {1885, sum(3, 1911, -25), []string{"€19.11 of payments recorded here.", "-€0.25 of entries without a payment recorded here.", "-€0.01 that no entry has."}},
		"another currency":  {500, []journal.PayoutSum{{Currency: "USD", Entries: 1, Settled: 500}}, []string{"€0.00 of payments recorded here.", "€5.00 that no entry has."}},
		"they cancel out":   {0, sum(2, 25, -25), []string{"€0.25 of payments recorded here.", "-€0.25 of entries without a payment recorded here."}},
		"a negative payout": {-500, sum(1, -499, 0), []string{"-€4.99 of payments recorded here.", "-€0.01 that no entry has."}},
	} {
		p := journal.Payout{Sums: tc.sums}
		p.Money = &payment.Money{Minor: tc.minor, Currency: "EUR"}
		require.Equal(t, tc.want, explanation(p), name)
	}
	unlisted := journal.Payout{Sums: sum(2, 1000, 1)}
	require.Equal(t, []string{"The provider states no amount: this is the sum of 2 entries."}, explanation(unlisted))
	require.Equal(t, "€10.01", sums(unlisted.Moneys()))
	require.Equal(t, "not stated", payoutStatus(unlisted.Status))
	require.Equal(t, "in transit", payoutStatus(payment.PayoutInTransit))
}
