package e2e_test

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// TestSpecification checks that the specification of an order accepts right histories and no wrong ones.
func TestSpecification(t *testing.T) {
	t.Parallel()
	made := clientCall{Kind: callOrder, Status: 201, Call: 0, Return: 1}
	pay := func(key, id, status string, version int, call, end int64) clientCall {
		return clientCall{Kind: callPay, Key: key, Status: 201, Seen: attemptView{ID: id, Key: key, Status: status, Version: version}, Call: call, Return: end}
	}
	read := func(id, status string, version int, at int64) clientCall {
		return clientCall{Kind: callRead, Attempt: id, Status: 200, Seen: attemptView{ID: id, Status: status, Version: version}, Call: at, Return: at + 1}
	}
	conflict := func(kind, key, code string, at int64) clientCall {
		return clientCall{Kind: kind, Key: key, Status: 409, Code: code, Call: at, Return: at + 1}
	}
	lost := func(kind, key string, call int64) clientCall {
		return clientCall{Kind: kind, Key: key, Unknown: true, Call: call, Return: 100}
	}
	cancelled := func(at int64) clientCall {
		return clientCall{Kind: callCancelOrder, Status: 200, Order: &orderView{Status: "cancelled"}, Call: at, Return: at + 1}
	}
	paid := func(sends int, at int64) clientCall {
		order := &orderView{Status: "paid", Attempts: []attemptView{{ID: "1", Key: "a", Status: "succeeded", Version: 3}}}
		return clientCall{Kind: callCancelOrder, Status: 200, Sends: sends, Order: order, Call: at, Return: at + 1}
	}
	for name, tt := range map[string]struct {
		right bool
		calls []clientCall
	}{
		"a pay that is seen later":                 {true, []clientCall{made, pay("a", "1", "pending", 1, 2, 3), read("1", "succeeded", 3, 4), read("1", "succeeded", 3, 6)}},
		"a pay that others see in between":         {true, []clientCall{made, pay("a", "1", "succeeded", 3, 2, 9), read("1", "pending", 1, 4), read("1", "pending", 2, 6)}},
		"a status that goes back":                  {false, []clientCall{made, pay("a", "1", "succeeded", 3, 2, 3), read("1", "failed", 4, 4)}},
		"a version that goes back":                 {false, []clientCall{made, pay("a", "1", "pending", 2, 2, 3), read("1", "succeeded", 3, 4), read("1", "pending", 2, 6)}},
		"a version with two contents":              {false, []clientCall{made, pay("a", "1", "pending", 2, 2, 3), read("1", "succeeded", 2, 4)}},
		"two attempts of a key":                    {false, []clientCall{made, pay("a", "1", "failed", 2, 2, 3), pay("a", "2", "pending", 1, 4, 5)}},
		"a second tab":                             {true, []clientCall{made, pay("a", "1", "pending", 1, 2, 5), conflict(callPay, "b", "payment-in-progress", 3)}},
		"a second tab before the first":            {false, []clientCall{made, conflict(callPay, "b", "payment-in-progress", 2), pay("a", "1", "pending", 1, 4, 5)}},
		"a pay after a failure":                    {true, []clientCall{made, pay("a", "1", "failed", 2, 2, 3), pay("b", "2", "succeeded", 2, 4, 5), conflict(callPay, "c", "order-already-paid", 6)}},
		"a pay after a success":                    {false, []clientCall{made, pay("a", "1", "succeeded", 2, 2, 3), pay("b", "2", "pending", 1, 4, 5)}},
		"two live attempts":                        {false, []clientCall{made, pay("a", "1", "pending", 1, 2, 3), pay("b", "2", "pending", 1, 4, 5), read("1", "succeeded", 3, 6)}},
		"paid without a pay":                       {false, []clientCall{made, conflict(callPay, "a", "order-already-paid", 2)}},
		"a pay after the cancellation":             {false, []clientCall{made, cancelled(2), pay("a", "1", "pending", 1, 4, 5)}},
		"a cancellation without an answer":         {true, []clientCall{made, lost(callCancelOrder, "x", 2), conflict(callPay, "a", "order-cancelled", 6)}},
		"a cancellation that nobody requested":     {false, []clientCall{made, conflict(callPay, "a", "order-cancelled", 6)}},
		"a cancellation that shows a payment":      {false, []clientCall{made, pay("a", "1", "pending", 2, 2, 3), paid(1, 4)}},
		"a repeated cancellation, and a payment":   {true, []clientCall{made, pay("a", "1", "pending", 2, 2, 3), paid(2, 4), read("1", "succeeded", 3, 6)}},
		"a pay without an answer that others see":  {true, []clientCall{made, lost(callPay, "a", 2), conflict(callPay, "b", "payment-in-progress", 6)}},
		"a pay without an answer that did nothing": {true, []clientCall{made, lost(callPay, "a", 2), pay("b", "2", "succeeded", 2, 6, 7)}},
		"an order without its attempt": {false, []clientCall{
			made, pay("a", "1", "pending", 1, 2, 3), {Kind: callReadOrder, Status: 200, Order: &orderView{Status: "open"}, Call: 4, Return: 5},
		}},
		"a refund of nothing": {false, []clientCall{made, pay("a", "1", "failed", 2, 2, 3), {Kind: callRefund, Attempt: "1", Status: 201, Call: 4, Return: 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.right, porcupine.CheckOperations(spec.ToModel(), operations(tt.calls)))
		})
	}
}

func operations(calls []clientCall) []porcupine.Operation {
	var all []porcupine.Operation
	for i := range calls {
		calls[i].Client = i
		all = append(all, calls[i].operations()...)
	}
	return all
}
