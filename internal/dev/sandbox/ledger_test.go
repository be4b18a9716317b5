package sandbox_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func TestFee(t *testing.T) {
	t.Parallel()
	for amount, fee := range map[int64]int64{
		1: 25, 35: 25, 36: 26, 1999: 53, 2000: 53, 2035: 53, 2036: 54, 1_000_000_000_000: 14_000_000_025,
	} {
		e := sandbox.Record{Movement: sandbox.Movement{Kind: sandbox.Charge, Amount: amount}}.Entry(time.Now())
		require.Equal(t, fee, e.Fee, amount)
		require.Equal(t, amount-fee, e.Net, amount)
	}
	for kind, net := range map[sandbox.Kind]int64{sandbox.Refund: -500, sandbox.Chargeback: -500, sandbox.ChargebackReversal: 500} {
		e := sandbox.Record{Movement: sandbox.Movement{Kind: kind, Amount: 500}}.Entry(time.Now())
		require.Zero(t, e.Fee, kind)
		require.Equal(t, net, e.Net, kind)
	}
}

func TestPayout(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 31, 23, 59, 59, 999_999_000, time.UTC)
	r := sandbox.Record{Movement: sandbox.Movement{Kind: sandbox.Charge, Amount: 500, Currency: "EUR", At: sandbox.Stamp(at)}}
	require.Nil(t, r.Entry(at).PayoutID)
	require.Equal(t, "po_20260331_eur", *r.Entry(at.Add(time.Microsecond)).PayoutID)
}

// TestPages reads a list of times that are in no order, while it grows.
func TestPages(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var list []string
	for i := range 20 {
		list = append(list, sandbox.Stamp(base.Add(time.Duration(i*7%20)*time.Second)))
	}
	q, err := sandbox.ParseQuery(url.Values{
		"from": {base.Add(3 * time.Second).Format(time.RFC3339Nano)}, "to": {base.Add(17*time.Second + 1).Format(time.RFC3339Nano)}, "limit": {"4"},
	})
	require.NoError(t, err)
	same := func(at string) string { return at }
	var all []string
	for {
		p := sandbox.PageOf(list, q, same, same)
		all = append(all, p.Items...)
		if p.NextCursor == nil {
			break
		}
		require.Len(t, p.Items, 4)
		more, err := sandbox.ParseQuery(url.Values{"cursor": {*p.NextCursor}})
		require.NoError(t, err)
		q.Cursor = more.Cursor
		if len(list) == 20 {
			list = append(list, sandbox.Stamp(base.Add(5*time.Second)))
		}
	}
	require.Len(t, all, 16, "those of 15 seconds, and the one that was added")
	for _, at := range all {
		require.True(t, at >= q.From && at < q.To)
	}
}
