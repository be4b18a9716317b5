package broker_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/events/broker"
)

var errRefused = errors.New("refused")

func TestRounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages []broker.Message
		want     [][]int
	}{
		"none":                     {nil, nil},
		"different ones":           {[]broker.Message{{Subject: "a"}, {Subject: "b"}}, [][]int{{0, 1}}},
		"pairs of one order":       {[]broker.Message{{OrderID: "o", Subject: "a"}, {OrderID: "o", Subject: "b"}, {OrderID: "p", Subject: "c"}}, [][]int{{0, 2}, {1}}},
		"a subject of no order":    {[]broker.Message{{Subject: "a"}, {Subject: "a"}}, [][]int{{0}, {1}}},
		"a subject gains an order": {[]broker.Message{{Subject: "a"}, {OrderID: "o", Subject: "a"}, {OrderID: "o", Subject: "b"}}, [][]int{{0}, {1}, {2}}},
		"an order's id that is a subject": {
			[]broker.Message{{OrderID: "a", Subject: "x"}, {Subject: "a"}}, [][]int{{0}, {1}},
		},
	} {
		require.Equal(t, c.want, broker.Rounds(c.messages), name)
	}
}

// TestInRounds has a broker refuse any messages, and store all others that it is sent.
func TestInRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := make([]broker.Message, rapid.IntRange(0, 30).Draw(t, "messages"))
		refused := make([]bool, len(messages))
		for i := range messages {
			messages[i] = broker.Message{
				ID: strconv.Itoa(i), OrderID: rapid.SampledFrom([]string{"", "o", "p", "q"}).Draw(t, "order"), Subject: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "subject"),
			}
			refused[i] = rapid.IntRange(0, 9).Draw(t, "refused") == 0
		}
		stored := make([]bool, len(messages))
		acknowledged, err := broker.InRounds(messages, func(round []int) []error {
			errs := make([]error, len(round))
			for i, n := range round {
				for before := range n {
					if messages[before].Key() == messages[n].Key() || messages[before].Subject == messages[n].Subject {
						require.True(t, stored[before], "%d is sent ahead of %d", n, before)
					}
				}
				if refused[n] {
					errs[i] = errRefused
				}
			}
			for i, n := range round {
				stored[n] = errs[i] == nil
			}
			return errs
		})
		for n := range acknowledged {
			require.True(t, stored[n])
		}
		if err == nil {
			require.Len(t, messages, acknowledged)
			return
		}
		require.ErrorIs(t, err, errRefused)
		require.False(t, stored[acknowledged])
	})
}

func TestTakes(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"paylatch.>": true, ">": true, "*.order.paid": true, "paylatch.*.*": true, "paylatch.order.paid": true,
		"paylatch": false, "paylatch.*": false, "paylatch.order.paid.>": false, "other.>": false, "paylatch.order.*.x": false,
	} {
		require.Equal(t, want, broker.Takes([]string{"x", pattern}, "paylatch.order.paid"), pattern)
	}
}
