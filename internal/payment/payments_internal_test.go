package payment

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
)

// aPayment is one in a state with its amounts.
func aPayment(id string, state fsm.PaymentState, authorized, captured int64) Payment {
	return Payment{ID: id, State: state, Authorized: authorized, Captured: captured}
}

// A payment that is refunded since the order was paid twice must leave what pays the order.
func TestAttempt_Spare(t *testing.T) {
	t.Parallel()
	paid := func(id string, captured, refunded int64) Payment {
		return Payment{ID: id, State: fsm.PaymentCaptured, Captured: captured, Refunded: refunded}
	}
	took := func(ids ...string) (all []Movement) {
		for _, id := range ids {
			all = append(all, Movement{Kind: MovementCapture, Payment: id, Money: Money{1999, "EUR"}})
		}
		return all
	}
	for name, c := range map[string]struct {
		of     []Payment
		want   string
		took   []Movement
		failed bool
	}{
		"twice, and the first one was captured last": {[]Payment{paid("a", 1999, 0), paid("b", 1999, 700)}, "a", took("b", ""), false},
		"twice, and the last one was captured last":  {[]Payment{paid("a", 1999, 700), paid("b", 1999, 0)}, "b", took("", "b"), false},
		"late, and the first one was captured last":  {[]Payment{paid("a", 500, 0), paid("b", 500, 0)}, "a", took("b", ""), true},
		"late, and the last one was captured last":   {[]Payment{paid("a", 500, 0), paid("b", 500, 0)}, "b", took("", "b"), true},
		"paid once":                              {[]Payment{paid("a", 1999, 0)}, "", nil, false},
		"paid twice":                             {[]Payment{paid("a", 1999, 0), paid("b", 1999, 0)}, "b", nil, false},
		"a part, then all":                       {[]Payment{paid("a", 500, 0), paid("b", 1999, 0)}, "a", nil, false},
		"a refunded part, then all":              {[]Payment{paid("a", 500, 500), paid("b", 1999, 0)}, "", nil, false},
		"all, then a part":                       {[]Payment{paid("a", 1999, 0), paid("b", 500, 0)}, "b", nil, false},
		"parts that add up, and one more":        {[]Payment{paid("a", 1500, 0), paid("b", 499, 0), paid("c", 499, 0)}, "c", nil, false},
		"two parts that are too much":            {[]Payment{paid("a", 1500, 0), paid("b", 1500, 0)}, "", nil, false},
		"twice, and the first was refunded":      {[]Payment{paid("a", 1999, 1999), paid("b", 1999, 0)}, "b", nil, false},
		"twice, and of the first a part was":     {[]Payment{paid("a", 1999, 700), paid("b", 1999, 0)}, "b", nil, false},
		"twice, and the last one holds no money": {[]Payment{paid("a", 1999, 0), paid("b", 1999, 1999)}, "a", nil, false},
	} {
		a := Attempt{State: fsm.Succeeded, Money: Money{1999, "EUR"}, Payments: c.of, Movements: c.took}
		if c.failed {
			a.State = fsm.Failed
		}
		got := ""
		if p := a.Spare(); p != nil {
			got = p.ID
		}
		require.Equal(t, c.want, got, name)
	}
}

// Two payments hold money, and each is refunded. A refund that the provider has takes nothing from the other payment's.
func TestCoversOfEachPayment(t *testing.T) {
	t.Parallel()
	a := Attempt{State: fsm.Succeeded, Money: Money{1999, "EUR"}, Captured: 3998, Payments: []Payment{aPayment("a", fsm.PaymentCaptured, 0, 1999), aPayment("b", fsm.PaymentCaptured, 0, 1999)}}
	refund := func(of string, minor int64) Refund {
		r := NewRefund(a, RefundByRequest, Money{minor, "EUR"}, time.Unix(1_000_000, 0))
		r.ProviderPaymentID, r.ProviderRefundID = of, "re_"+of
		return r
	}
	for name, c := range map[string]struct {
		r, other Refund
		want     bool
	}{
		"of another payment":                   {refund("b", 1999), refund("a", 1999), true},
		"of the same payment":                  {refund("b", 1999), refund("b", 1), false},
		"of the same payment, within its rest": {refund("b", 1998), refund("b", 1), true},
		"of an unknown payment":                {refund("b", 1999), refund("", 1), false},
	} {
		require.Equal(t, c.want, covered(&a, []Refund{c.r, c.other}, &c.r), name)
	}
}

// A provider whose cancel refunds a paid payment may say so by a lookup alone: the attempt was not paid.
func TestMoneyThatOurCancelGaveBackPaysNothing(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	returned := Report{Payment: "p", Event: fsm.EventSucceeded, Returned: true, Movements: MovementsOf(fsm.EventSucceeded, nil), Cause: Cause{Kind: CauseCheck}}
	for name, c := range map[string]struct {
		ops  []Operation
		want fsm.State
	}{
		"a cancel was sent":             {[]Operation{{Kind: OperationCancel, Sends: 1, State: fsm.OperationUnknown}}, fsm.Failed},
		"a cancel was refused":          {[]Operation{{Kind: OperationCancel, Sends: 1, State: fsm.OperationRefused}}, fsm.Succeeded},
		"a second send was refused":     {[]Operation{{Kind: OperationCancel, Sends: 2, State: fsm.OperationRefused}}, fsm.Failed},
		"a cancel is wanted":            {[]Operation{{Kind: OperationCancel, State: fsm.OperationWanted}}, fsm.Succeeded},
		"another payment was cancelled": {[]Operation{{Kind: OperationCancel, Payment: "o", Sends: 1, State: fsm.OperationDone}}, fsm.Succeeded},
		"nothing was cancelled":         {nil, fsm.Succeeded},
	} {
		a := Attempt{State: fsm.AwaitingCustomer, Money: Money{1999, "EUR"}, Operations: c.ops, Payments: []Payment{aPayment("p", fsm.PaymentOpen, 0, 0)}, ProviderPaymentID: "p"}
		transition, _ := Advance(&a, returned, now)
		require.Equal(t, c.want, a.State, name)
		if c.want == fsm.Failed {
			require.Zero(t, a.Captured)
			require.EqualValues(t, 1999, a.Sums(MovementCaptureReversal), "what came is recorded, and that it went back")
			require.Equal(t, PaymentReversed, transition.Findings[0].Kind, "a person is told")
		}
	}
}

// The first call of a cancel is told by its response what it did: money that was back before it is a refund of a payment that paid.
func TestMoneyThatWasBackBeforeOurCancelHasPaid(t *testing.T) {
	t.Parallel()
	for sends, want := range map[int]fsm.State{1: fsm.Succeeded, 2: fsm.Failed} {
		cancel := Operation{Kind: OperationCancel, Sends: sends, State: fsm.OperationSent}
		a := Attempt{State: fsm.AwaitingCustomer, Money: Money{1999, "EUR"}, Operations: []Operation{cancel}, Payments: []Payment{aPayment("p", fsm.PaymentOpen, 0, 0)}, ProviderPaymentID: "p"}
		Advance(&a, Report{
			Payment: "p", Event: fsm.EventSucceeded, Returned: true, Movements: MovementsOf(fsm.EventSucceeded, nil), Cause: Cause{Kind: CauseCall, ID: cancel.Key()},
		}, time.Unix(1_000_000, 0))
		require.Equal(t, want, a.State, sends)
	}
}

// An attempt of 19.99 stands as its payments do.
func TestAttempt_derived(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	later, past := now.Add(time.Minute), now.Add(-time.Minute)
	failed := aPayment("f", fsm.PaymentFailed, 0, 0)
	open := aPayment("o", fsm.PaymentOpen, 0, 0)
	debit := aPayment("p", fsm.PaymentProcessing, 0, 0)
	hold := aPayment("h", fsm.PaymentAuthorized, 1999, 0)
	paid := aPayment("c", fsm.PaymentCaptured, 0, 1999)
	capture := func(amount int64, state fsm.OperationState) Operation {
		return Operation{Kind: OperationCapture, Amount: amount, Sends: 1, State: state}
	}
	for name, c := range map[string]struct {
		of   Attempt
		want fsm.State
	}{
		"nothing yet":                               {Attempt{State: fsm.Requested}, fsm.Requested},
		"nothing known":                             {Attempt{State: fsm.OutcomeUnknown}, fsm.OutcomeUnknown},
		"named only":                                {Attempt{State: fsm.Requested, Payments: []Payment{aPayment("n", fsm.PaymentNamed, 0, 0)}}, fsm.Requested},
		"named beside a failed one":                 {Attempt{State: fsm.Processing, Payments: []Payment{failed, aPayment("n", fsm.PaymentNamed, 0, 0)}}, fsm.Processing},
		"open":                                      {Attempt{State: fsm.Requested, Payments: []Payment{open}}, fsm.AwaitingCustomer},
		"open beside a failed one":                  {Attempt{State: fsm.AwaitingCustomer, Payments: []Payment{open, failed}}, fsm.AwaitingCustomer},
		"processing before open":                    {Attempt{State: fsm.AwaitingCustomer, Payments: []Payment{open, debit, failed}}, fsm.Processing},
		"a hold before processing":                  {Attempt{State: fsm.Processing, Payments: []Payment{debit, hold}}, fsm.Authorized},
		"a hold of another amount":                  {Attempt{State: fsm.Processing, Payments: []Payment{aPayment("h", fsm.PaymentAuthorized, 5, 0)}}, fsm.Processing},
		"holds that add up":                         {Attempt{State: fsm.Processing, Payments: []Payment{aPayment("h", fsm.PaymentAuthorized, 1500, 0), aPayment("i", fsm.PaymentAuthorized, 499, 0)}}, fsm.Authorized},
		"captured before all":                       {Attempt{State: fsm.Authorized, Payments: []Payment{hold, debit, open, paid}}, fsm.Succeeded},
		"captured twice":                            {Attempt{State: fsm.Authorized, Payments: []Payment{paid, paid}}, fsm.Succeeded},
		"more than the amount":                      {Attempt{State: fsm.Processing, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 0, 2398)}}, fsm.Succeeded},
		"parts that add up":                         {Attempt{State: fsm.Processing, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 0, 1500), aPayment("d", fsm.PaymentCaptured, 0, 499)}}, fsm.Succeeded},
		"a part":                                    {Attempt{State: fsm.Processing, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 0, 1998)}}, fsm.Processing},
		"a part, and the rest is on the way":        {Attempt{State: fsm.AwaitingCustomer, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 0, 1500), debit}}, fsm.Processing},
		"a part of a hold":                          {Attempt{State: fsm.Authorized, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 1999, 1)}}, fsm.Processing},
		"a part that was asked for":                 {Attempt{State: fsm.Authorized, Operations: []Operation{capture(700, fsm.OperationDone)}, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 1999, 700)}}, fsm.Succeeded},
		"another part than was asked for":           {Attempt{State: fsm.Authorized, Operations: []Operation{capture(700, fsm.OperationDone)}, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 1999, 699)}}, fsm.Processing},
		"a part that was refused":                   {Attempt{State: fsm.Authorized, Operations: []Operation{capture(700, fsm.OperationRefused)}, Payments: []Payment{aPayment("c", fsm.PaymentCaptured, 1999, 700)}}, fsm.Processing},
		"all failed":                                {Attempt{State: fsm.Processing, Payments: []Payment{failed, failed}}, fsm.Failed},
		"all failed, the page is open":              {Attempt{State: fsm.AwaitingCustomer, PageOpen: true, Payments: []Payment{failed}}, fsm.AwaitingCustomer},
		"all failed, the page is to close":          {Attempt{State: fsm.AwaitingCustomer, PageOpen: true, Operations: []Operation{{Kind: OperationCancel, State: fsm.OperationWanted}}, Payments: []Payment{failed}}, fsm.Failed},
		"an open container":                         {Attempt{State: fsm.Requested, Containers: []Container{{ID: "cs"}}}, fsm.AwaitingCustomer},
		"failed in an open container":               {Attempt{State: fsm.AwaitingCustomer, Containers: []Container{{ID: "cs"}}, Payments: []Payment{failed}}, fsm.AwaitingCustomer},
		"an ended container":                        {Attempt{State: fsm.AwaitingCustomer, Containers: []Container{{ID: "cs", Ended: true}}}, fsm.Failed},
		"begun elsewhere":                           {Attempt{State: fsm.AwaitingCustomer, Origin: OriginExternal, ExpiresAt: &later, Payments: []Payment{failed}}, fsm.AwaitingCustomer},
		"begun elsewhere, and expired":              {Attempt{State: fsm.AwaitingCustomer, Origin: OriginExternal, ExpiresAt: &past, Payments: []Payment{failed}}, fsm.Failed},
		"begun elsewhere, and to be cancelled":      {Attempt{State: fsm.AwaitingCustomer, Origin: OriginExternal, ExpiresAt: &later, Payments: []Payment{failed}, Operations: []Operation{{Kind: OperationCancel}}}, fsm.Failed},
		"begun elsewhere, one payment is cancelled": {Attempt{State: fsm.AwaitingCustomer, Origin: OriginExternal, ExpiresAt: &later, Payments: []Payment{failed}, Operations: []Operation{{Kind: OperationCancel, Payment: "f"}}}, fsm.AwaitingCustomer},
		"a debit of an expired one":                 {Attempt{State: fsm.Processing, Origin: OriginExternal, ExpiresAt: &past, Payments: []Payment{failed, debit}}, fsm.Processing},
	} {
		a := c.of
		a.Money = Money{1999, "EUR"}
		for _, p := range a.Payments {
			a.Authorized += p.Authorized
			a.Captured += p.Captured
		}
		require.Equal(t, c.want, a.derived(now), name)
	}
}

// anyReport draws a report about one of up to three payments.
func anyReport(says []fsm.Event) *rapid.Generator[Report] {
	return rapid.Custom(func(t *rapid.T) Report {
		r := Report{
			Payment: rapid.SampledFrom([]string{"pi_1", "pi_2", "pi_3"}).Draw(t, "payment"), Event: rapid.SampledFrom(says).Draw(t, "says"),
			Container: rapid.SampledFrom([]string{"", "", "cs_1", "cs_2"}).Draw(t, "container"),
			Releases:  rapid.SampledFrom([]HoldEnd{HoldsBefore, HoldsAll}).Draw(t, "ends"), PageOpen: rapid.Bool().Draw(t, "page open"),
			Cause: Cause{Kind: rapid.SampledFrom([]CauseKind{CauseWebhook, CauseCheck, CauseCall}).Draw(t, "cause"), ID: "x"},
		}
		if at := rapid.IntRange(0, 5).Draw(t, "at"); at > 0 {
			r.At = time.Unix(int64(at), 0)
		}
		money := Money{rapid.SampledFrom([]int64{500, 1499, 1999, 2500}).Draw(t, "amount"), rapid.SampledFrom([]Currency{"EUR", "EUR", "EUR", "USD"}).Draw(t, "currency")}
		switch r.Event { //nolint:exhaustive // the rest are of no money
		case fsm.EventAuthorized, fsm.EventSucceeded:
			r.Movements = MovementsOf(r.Event, &money)
		case fsm.EventMoney:
			r.Movements = []MovementReport{{Kind: rapid.SampledFrom(movementKinds()).Draw(t, "kind"), Money: money, At: r.At}}
		default:
			r.Failure = NewFailure("card_declined", "")
		}
		return r
	})
}

// anAttempt draws a pending one without payments, as it is begun.
func anAttempt(t *rapid.T) Attempt {
	a := Attempt{Money: Money{1999, "EUR"}, Origin: rapid.SampledFrom([]Origin{OriginPaylatch, OriginExternal}).Draw(t, "begun")}
	a.State = a.Origin.First()
	if a.Origin == OriginExternal {
		expires := time.Unix(int64(rapid.IntRange(0, 20).Draw(t, "expires")), 0)
		a.ExpiresAt = &expires
	}
	return a
}

// reaches reports whether any event takes the state machine from one state to another.
func reaches(from, to fsm.State) bool {
	return from == to || slices.ContainsFunc(fsm.Table(), func(r fsm.Row) bool { return r.From == from && r.To == to })
}

func paymentReaches(from, to fsm.PaymentState) bool {
	return from == to || slices.ContainsFunc(fsm.PaymentTable(), func(r fsm.PaymentRow) bool { return r.From == from && r.To == to })
}

// keepApart requires that a report about one payment has moved no other, that each payment's amounts are the sums of its
// movements, and that each state follows from the former state by the state machine.
func keepApart(t *rapid.T, before, a *Attempt, r Report) {
	for i := range before.Payments {
		was, is := before.Payments[i], a.Payments[i]
		if was.ID != "" && was.ID != is.ID {
			t.Fatalf("payment %q became %q", was.ID, is.ID)
		}
		if !paymentReaches(was.State, is.State) {
			t.Fatalf("payment %s became %s from %s", is.ID, is.State, was.State)
		}
		if r.Payment != "" && is.ID != r.Payment && was != is {
			t.Fatalf("%s of %s made %+v of %+v", r.Event, r.Payment, is, was)
		}
		if r.Payment == "" && r.Event == fsm.EventFailed && was.ID != "" && was != is &&
			(was.State == fsm.PaymentProcessing || was.State == fsm.PaymentAuthorized || was.State == fsm.PaymentCaptured) {
			t.Fatalf("the end of %s made %+v of %+v", r.Container, is, was)
		}
	}
	if !reaches(before.State, a.State) {
		t.Fatalf("%s became %s", before.State, a.State)
	}
	sums := Attempt{Money: a.Money}
	for i := range a.Payments {
		sums.Payments = append(sums.Payments, Payment{ID: a.Payments[i].ID})
	}
	for _, m := range a.Movements {
		sums.Count(m)
	}
	type amounts [4]int64
	of := func(p *Payment) amounts { return amounts{p.Authorized, p.Captured, p.Refunded, p.Disputed} }
	var all amounts
	for i := range a.Payments {
		if got, want := of(&a.Payments[i]), of(&sums.Payments[i]); got != want {
			t.Fatalf("payment %s has %v, and its movements make %v", a.Payments[i].ID, got, want)
		}
		for n, sum := range of(&a.Payments[i]) {
			all[n] += sum
		}
	}
	if len(a.Payments) > 0 && all != (amounts{a.Authorized, a.Captured, a.Refunded, a.Disputed}) {
		t.Fatalf("the payments make %v, the attempt has %s", all, fmt.Sprint(a.Facts()))
	}
}

// For any reports of up to three payments, in any order, each report moves only its own payment.
func TestAdvance_keepsPaymentsApart(t *testing.T) {
	t.Parallel()
	says := []fsm.Event{
		fsm.EventProcessing, fsm.EventActionRequired, fsm.EventAuthorized, fsm.EventSucceeded, fsm.EventSoftFailed, fsm.EventFailed, fsm.EventFailed, fsm.EventMoney,
	}
	rapid.Check(t, func(t *rapid.T) {
		a := anAttempt(t)
		for i, r := range rapid.SliceOfN(anyReport(says), 1, 14).Draw(t, "told") {
			if r.Event == fsm.EventFailed && r.Container != "" && rapid.Bool().Draw(t, "of the container alone") {
				r.Payment = ""
			}
			before := a
			before.Payments = slices.Clone(a.Payments)
			_, verdict := Advance(&a, r, time.Unix(int64(i), 0))
			if verdict == Ignored {
				t.Fatalf("%+v is ignored", r)
			}
			keepApart(t, &before, &a, r)
		}
	})
}
