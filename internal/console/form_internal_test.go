package console

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	q, err := readForm(url.Values{
		"status": {"failed"}, "stage": {"final"}, "account": {" acc "}, "user_id": {"u1"}, "currency": {"eur"}, "amount_from": {"9,99"}, "amount_to": {"€50"},
		"created_from": {"2026-03-01"}, "created_to": {"2026-03-01"}, "updated_from": {"2026-03-02"}, "updated_to": {"2026-03-03"},
	}).query(lists.Attempts, "", time.UTC)
	require.NoError(t, err)
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	require.Equal(t, lists.Filter{
		Status: "failed", Stage: "final", Account: "acc", User: "u1", Currency: "EUR", AmountMin: 999, AmountMax: 5000,
		CreatedFrom: day(1), CreatedTo: day(2), UpdatedFrom: day(2), UpdatedTo: day(4),
	}, q.Filter, "the last day is of the span")
	times, err := readForm(url.Values{
		"created_from": {"2026-03-01T00:00:00Z"}, "created_to": {"2026-04-01T00:00:00+02:00"},
	}).query(lists.Attempts, "", time.FixedZone("Kiritimati", 14*60*60))
	require.NoError(t, err)
	require.True(t, day(1).Equal(times.CreatedFrom))
	require.True(t, time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC).Equal(times.CreatedTo), "a time is not of the span")
	all, err := readForm(url.Values{}).query(lists.Orders, "", time.UTC)
	require.NoError(t, err)
	require.True(t, all.AnyAmount())
	for name, text := range map[string]string{
		"status": "lost", "amount_from": "20", "amount_to": "x EUR", "created_from": "1.3.2026", "updated_to": "2026-13-01", "currency": "EURO", "stage": "x",
	} {
		_, err := readForm(url.Values{name: {text}}).query(lists.Attempts, "", time.UTC)
		var invalid *payment.ValidationError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, name, invalid.Fields[0].Field)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/support/payments.csv", readForm(url.Values{"cursor": {"x"}}).address("/support/payments.csv"))
	require.Equal(t, "/a?amount_from=5+EUR&status=paid", readForm(url.Values{"amount_from": {"5 EUR"}, "status": {"paid"}, "cursor": {"x"}, "limit": {"5"}}).address("/a"))
}
