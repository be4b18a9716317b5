package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

var midnight = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func TestSecondsContainTheSpan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, wantFrom, wantTo time.Duration }{
		{0, time.Hour, 0, time.Hour},
		{1, time.Hour, 0, time.Hour},
		{time.Second, time.Second + 1, time.Second, 2 * time.Second},
		{999, time.Second - 1, 0, time.Second},
	} {
		got := gateway.Span{From: midnight.Add(test.from), To: midnight.Add(test.to)}.Seconds()
		require.Equal(t, gateway.Span{From: midnight.Add(test.wantFrom), To: midnight.Add(test.wantTo)}, got)
	}
}

func TestSplitSpansMeet(t *testing.T) {
	t.Parallel()
	span := func(from, to int) gateway.Span {
		return gateway.Span{From: midnight.AddDate(0, 0, from), To: midnight.AddDate(0, 0, to)}
	}
	const day = 24 * time.Hour
	require.Equal(t, []gateway.Span{span(0, 31), span(31, 62), span(62, 70)}, span(0, 70).Split(31*day))
	require.Equal(t, []gateway.Span{span(0, 31)}, span(0, 31).Split(31*day))
	require.Equal(t, []gateway.Span{span(0, 1)}, span(0, 1).Split(31*day))
	require.Empty(t, span(1, 1).Split(day))
}
