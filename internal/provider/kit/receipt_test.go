package kit_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestPricedIsExactlyTheAmount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quantity     string
		unit, amount int64
		want         json.Number
		price        int64
	}{
		"two":            {"2", 750, 1500, "2", 750},
		"trailing zeros": {"10.50", 100, 1050, "10.5", 100},
		"whole zeros":    {"20.000", 5, 100, "20", 5},
		"rounded":        {"0.333", 100, 33, "1", 33},
		"discounted":     {"2", 750, 1400, "1", 1400},
		"for nothing":    {"2", 0, 0, "2", 0},
		"no number":      {"x", 5, 5, "1", 5},
	} {
		quantity, price := kit.Priced(gateway.Line{Quantity: c.quantity, UnitAmount: c.unit, Amount: c.amount})
		require.Equal(t, c.want, quantity, name)
		require.Equal(t, c.price, price, name)
	}
}

func TestReceiptNeedsAnAddressAndAllLines(t *testing.T) {
	t.Parallel()
	on := &gateway.LineReceipt{VATCode: 1}
	for name, c := range map[string]struct {
		details gateway.Details
		fields  []string
	}{
		"none":          {gateway.Details{Lines: []gateway.Line{{Amount: -1}}}, nil},
		"by e-mail":     {gateway.Details{Customer: gateway.Customer{Email: "a@b.example"}, Lines: []gateway.Line{{Amount: 1, Receipt: on}}}, nil},
		"by telephone":  {gateway.Details{Customer: gateway.Customer{Phone: "+79000000000"}, Lines: []gateway.Line{{Amount: 1, Receipt: on}}}, nil},
		"to nobody":     {gateway.Details{Lines: []gateway.Line{{Amount: 1, Receipt: on}}}, []string{"customer.email"}},
		"a line less":   {gateway.Details{Customer: gateway.Customer{Email: "a@b.example"}, Lines: []gateway.Line{{Amount: 1, Receipt: on}, {Amount: 1}}}, []string{"lines[1].receipt"}},
		"with discount": {gateway.Details{Customer: gateway.Customer{Email: "a@b.example"}, Lines: []gateway.Line{{Amount: -1, Receipt: on}}}, []string{"lines[0].amount"}},
	} {
		var n kit.Needs
		n.Receipt(c.details)
		var wrong *payment.ValidationError
		if c.fields == nil {
			require.NoError(t, n.Err(), name)
			continue
		}
		require.ErrorAs(t, n.Err(), &wrong, name)
		var fields []string
		for _, f := range wrong.Fields {
			fields = append(fields, f.Field)
		}
		require.Equal(t, c.fields, fields, name)
	}
}

func TestShortCutsCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Бил", kit.Short("Билет", 3))
	require.Equal(t, "Билет", kit.Short("Билет", 128))
}
