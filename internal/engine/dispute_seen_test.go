package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A dispute that only a lookup shows has one discrepancy for each stage. It has its own discrepancy if it took no money,
// else the discrepancy of its chargeback.
func disputesSeenByALookup(t *testing.T) {
	t.Parallel()
	warning, open, won := dated(fsm.DisputeWarning, 1), dated(fsm.DisputeOpen, 2), dated(fsm.DisputeWon, 3)
	reopened := dated(fsm.DisputeOpen, 4)
	other := dated(fsm.DisputeWarning, 1)
	other.ProviderID = "dp_2"
	taken := []payment.MovementReport{{Kind: payment.MovementChargeback, ID: "le_1", Money: payment.Money{Minor: 700, Currency: "EUR"}}}
	for name, tt := range map[string]struct {
		shown []gateway.Outcome
		want  []string
	}{
		"inquiry":          {[]gateway.Outcome{disputed(nil, warning)}, []string{"disputed warning dp_1"}},
		"open, no money":   {[]gateway.Outcome{disputed(nil, open)}, []string{"disputed open dp_1"}},
		"chargeback":       {[]gateway.Outcome{disputed(taken, open)}, []string{"payment_reversed chargeback le_1"}},
		"over":             {[]gateway.Outcome{disputed(nil, won)}, []string{}},
		"one beside":       {[]gateway.Outcome{disputed(taken, open, other)}, []string{"disputed warning dp_2", "payment_reversed chargeback le_1"}},
		"goes on":          {[]gateway.Outcome{disputed(taken, open), disputed(taken, dated(fsm.DisputeUnderReview, 3))}, []string{"payment_reversed chargeback le_1"}},
		"inquiry, then it": {[]gateway.Outcome{disputed(nil, warning), disputed(taken, open)}, []string{"disputed warning dp_1", "payment_reversed chargeback le_1"}},
		"opened again":     {[]gateway.Outcome{disputed(nil, won), disputed(nil, reopened)}, []string{"disputed reopened dp_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shows := &showing{}
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { shows.Provider = p; return shows }})
			paid := r.paid(t, "A-1", "tok_success")
			for _, shows.later = range tt.shown {
				for range 2 {
					_, err := r.Ask(t.Context(), paid.ID, byTest)
					require.NoError(t, err)
				}
				require.Empty(t, r.verify(t))
			}
			require.Equal(t, tt.want, rows[string](t, r, "SELECT kind || ' ' || about_id FROM discrepancies ORDER BY 1"))
		})
	}
}

// dated is a dispute of 7.00 some seconds after the first one began.
func dated(status fsm.DisputeState, second int) payment.DisputeReport {
	at := disputeEpoch.Add(time.Duration(second) * time.Second)
	return payment.DisputeReport{ProviderID: "dp_1", Status: status, Money: &payment.Money{Minor: 700, Currency: "EUR"}, At: at}
}

func disputed(moved []payment.MovementReport, all ...payment.DisputeReport) gateway.Outcome {
	return gateway.Outcome{Movements: moved, Disputes: all}
}

// showing is a provider whose lookups show later changes.
type showing struct {
	gateway.Provider

	later gateway.Outcome
}

func (p *showing) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	o, err := p.Provider.Lookup(ctx, id)
	o.Movements, o.Disputes = p.later.Movements, p.later.Disputes
	return o, err
}
