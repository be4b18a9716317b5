package imports_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
)

var now = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

const whole = `{"order_id":"A-1","user_id":"u1","client_request_id":"request-1","provider_payment_id":"pi_1","references":["ch_2","ch_1","pi_1"],` +
	`"status":"succeeded","amount":1999,"currency":"EUR","amount_captured":1500,"amount_refunded":500,` +
	`"created_at":"2024-01-02T03:04:05.123456789+01:00","finalized_at":"2024-01-02T02:05:00Z"}`

func TestParse(t *testing.T) {
	t.Parallel()
	p, wrong := imports.Parse([]byte(whole), "acc", now)
	require.Nil(t, wrong)
	require.Equal(t, imports.Past{
		Account: "acc", Order: "A-1", User: "u1", Request: "request-1", Payment: "pi_1", References: []string{"ch_1", "ch_2"},
		Succeeded: true, Money: payment.Money{Minor: 1999, Currency: "EUR"}, AmountCaptured: 1500, AmountRefunded: 500,
		CreatedAt: time.Date(2024, 1, 2, 2, 4, 5, 123456000, time.UTC), FinalizedAt: time.Date(2024, 1, 2, 2, 5, 0, 0, time.UTC),
	}, p)
	least, wrong := imports.Parse([]byte(`{"order_id":"A-1","user_id":"u1","provider_payment_id":"pi_1","status":"succeeded","amount":1999,"currency":"EUR","created_at":"2024-01-02T03:04:05Z"}`), "acc", now)
	require.Nil(t, wrong)
	require.EqualValues(t, "import:pi_1", least.Request)
	require.EqualValues(t, 1999, least.AmountCaptured)
	require.Equal(t, least.CreatedAt, least.FinalizedAt)
	require.NotEqual(t, p.Hash(), least.Hash())
}

func TestParse_refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, member string }{
		"no_order":             {`"A-1"`, `""`, "order_id"},
		"order_form":           {`"A-1"`, `"A 1"`, "order_id"},
		"user_reserved":        {`"u1"`, `"cli:root"`, "user_id"},
		"member_twice":         {`"u1"`, `"u1","user_id":"u2"`, ""},
		"member_twice_cased":   {`"u1"`, `"u1","USER_ID":"u2"`, ""},
		"member_twice_escaped": {`"u1"`, `"u1","user\u005fid":"u2"`, ""},
		"user_erased":          {`"u1"`, `"erased-0123456789abcdef01234567"`, "user_id"},
		"request_form":         {`"request-1"`, `"short"`, "client_request_id"},
		"no_payment":           {`"pi_1","ref`, `"","ref`, "provider_payment_id"},
		"payment_long":         {`"pi_1","ref`, `"` + strings.Repeat("x", 513) + `","ref`, "provider_payment_id"},
		"payment_nul":          {`"pi_1","ref`, `"p\u0000","ref`, "provider_payment_id"},
		"reference_empty":      {`"ch_1"`, `""`, "references"},
		"references_many":      {`"ch_1"`, `"1","2","3","4","5","6","7"`, "references"},
		"pending":              {`"succeeded"`, `"pending"`, "status"},
		"amount_fraction":      {`1999`, `19.99`, "amount"},
		"amount_text":          {`1999`, `"1999"`, "amount"},
		"amount_zero":          {`1999`, `0`, "amount"},
		"amount_large":         {`1999`, `1000000000001`, "amount"},
		"currency_unknown":     {`"EUR"`, `"EUX"`, "currency"},
		"currency_lower":       {`"EUR"`, `"eur"`, "currency"},
		"captured_more":        {`1500`, `2000`, "amount_captured"},
		"captured_nothing":     {`1500`, `0`, "amount_captured"},
		"refunded_more":        {`500,"c`, `1501,"c`, "amount_refunded"},
		"refunded_negative":    {`500,"c`, `-1,"c`, "amount_refunded"},
		"captured_and_failed":  {`"succeeded","amount":1999,"currency":"EUR","amount_captured":1500,"amount_refunded":500`, `"failed","amount":1999,"currency":"EUR","amount_captured":1500`, "amount_captured"},
		"created_missing":      {`"created_at":"2024-01-02T03:04:05.123456789+01:00",`, ``, "created_at"},
		"created_form":         {`2024-01-02T03:04:05.123456789+01:00`, `2024-01-02`, "created_at, finalized_at"},
		"created_later":        {`2024-01-02T03:04:05.123456789+01:00`, `2027-01-02T03:04:05Z`, "created_at"},
		"created_long_ago":     {`2024-01-02T03:04:05.123456789+01:00`, `1969-01-02T03:04:05Z`, "created_at"},
		"finalized_before":     {`2024-01-02T02:05:00Z`, `2024-01-02T02:04:00Z`, "finalized_at"},
		"finalized_later":      {`2024-01-02T02:05:00Z`, `2027-01-02T02:04:00Z`, "finalized_at"},
		"unknown_member":       {`"user_id"`, `"email":"x","user_id"`, ""},
		"two_on_a_line":        {whole, whole + whole, ""},
		"array":                {whole, `[]`, ""},
		"half":                 {`,"finalized_at":"2024-01-02T02:05:00Z"}`, ``, ""},
		"references_no_list":   {`["ch_2","ch_1","pi_1"]`, `"ch_1"`, "references"},
		"nothing":              {whole, `null`, "order_id"},
		"order_of_other_type":  {`"A-1"`, `7`, "order_id"},
		"request_empty":        {`"request-1"`, `""`, "client_request_id"},
		"failed_and_refunded":  {`"succeeded","amount":1999,"currency":"EUR","amount_captured":1500`, `"failed","amount":1999,"currency":"EUR"`, "amount_refunded"},
		"not_utf8_is_replaced": {`"A-1"`, "\"\xff\"", "order_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, whole, tt.old)
			_, wrong := imports.Parse([]byte(strings.Replace(whole, tt.old, tt.new, 1)), "acc", now)
			require.NotNil(t, wrong)
			require.Equal(t, tt.member, wrong.Member, wrong.Text)
			require.NotEmpty(t, wrong.Text)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, wrong := imports.Parse(line, "acc", now)
		if wrong != nil {
			return
		}
		require.True(t, payment.Nameable(p.Payment))
		require.GreaterOrEqual(t, p.AmountCaptured, p.AmountRefunded)
		require.False(t, p.FinalizedAt.Before(p.CreatedAt))
	})
}

// Lines of another cell are refused one by one, before any query: the storage would refuse their whole batch.
func TestRun_otherCell(t *testing.T) {
	t.Parallel()
	var refused []string
	count, err := imports.Run(context.Background(), strings.NewReader(whole+"\n"+whole), imports.Options{
		Account: "acc", Now: func() time.Time { return now }, Rules: changeset.Rules{Cell: 2},
		CellOf:  func(payment.OrderID) payment.Cell { return 1 },
		Refused: func(r *imports.RefusalError) { refused = append(refused, r.Error()) }, Progress: func(imports.Count) {},
	})
	require.NoError(t, err)
	require.Equal(t, imports.Count{Lines: 2, Refused: 2}, count)
	require.Equal(t, []string{
		"line 1: order_id: order A-1 is in cell 1, and this import is for cell 2: import the line with an account of cell 1",
		"line 2: order_id: order A-1 is in cell 1, and this import is for cell 2: import the line with an account of cell 1",
	}, refused)
}

// A line that is too long, and any number of refused ones, take no more memory than others.
func TestRun_longLine(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("x", 3*imports.MaxLine) + "\n\n{}\n{}"
	var refused []string
	count, err := imports.Run(context.Background(), strings.NewReader(file), imports.Options{
		Now: func() time.Time { return now }, Batch: 1, Refused: func(r *imports.RefusalError) { refused = append(refused, r.Error()) }, Progress: func(imports.Count) {},
	})
	require.NoError(t, err)
	require.Equal(t, imports.Count{Lines: 3, Refused: 3}, count)
	require.Equal(t, "line 1: must be at most 65536 bytes", refused[0])
	require.Contains(t, refused[1], "line 3: order_id: ")
	require.Contains(t, refused[2], "line 4: order_id: ")

	_, err = imports.Run(context.Background(), strings.NewReader(file), imports.Options{
		Now: func() time.Time { return now }, Batch: 1, MaxRefused: 2, Refused: func(*imports.RefusalError) {}, Progress: func(imports.Count) {},
	})
	require.ErrorIs(t, err, imports.ErrTooMany)
}
