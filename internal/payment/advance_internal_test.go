package payment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func euro(minor int64) *Money { return &Money{Minor: minor, Currency: "EUR"} }

// inState is an attempt of 19.99 EUR as it stands in a state.
func inState(s fsm.State) *Attempt {
	end := noon.Add(time.Minute)
	a := &Attempt{
		State: s, Money: *euro(1999), Capture: CaptureAutomatic, ProviderPaymentID: "p1", Version: 5, Fence: 1,
		LeaseUntil: &end, NextCheckAt: &end, CreatedAt: noon, UpdatedAt: noon,
	}
	switch s {
	case fsm.AwaitingCustomer:
		a.NextActionURL = "https://provider.example/1"
	case fsm.Authorized:
		a.Authorized, a.Capture = 1999, CaptureManual
	case fsm.Succeeded:
		a.Authorized, a.Captured = 1999, 1999
	case fsm.Failed:
		a.Failure = &Failure{Code: "card_declined"}
	case fsm.Requested, fsm.OutcomeUnknown, fsm.Processing:
	}
	if s.Final() {
		a.LeaseUntil, a.NextCheckAt, a.FinalizedAt = nil, nil, &noon
	}
	return a
}

func plain(n fsm.News) News {
	news := News{News: n}
	switch n {
	case fsm.NewsAuthorized, fsm.NewsSucceeded:
		news.Money = euro(1999)
	case fsm.NewsReversed:
		news.Money = euro(500)
	case fsm.NewsActionRequired:
		news.NextActionURL = "https://provider.example/1"
	case fsm.NewsFailed, fsm.NewsSoftFailed:
		news.Failure = &Failure{Code: "insufficient_funds"}
	case fsm.NewsUnknown, fsm.NewsProcessing, fsm.NewsDisputed:
	}
	return news
}

// All news in every state moves as the table of package fsm says; the second time
// it says nothing new.
func TestAdvanceFollowsTheTable(t *testing.T) {
	t.Parallel()
	opened := map[fsm.News]DiscrepancyKind{fsm.NewsReversed: PaymentReversed, fsm.NewsDisputed: Disputed}
	for _, row := range fsm.Table() {
		name := string(row.From) + " hears " + string(row.News)
		a := inState(row.From)
		before := *a
		tr, verdict := advance(a, plain(row.News), noon.Add(time.Second))
		require.Equal(t, row.Verdict, verdict, name)
		require.Equal(t, row.To, a.State, name)
		require.Equal(t, row.From, tr.From, name)
		require.Equal(t, row.To, tr.To, name)
		require.Equal(t, a.facts(), tr.Facts, name)
		wants := opened[row.News]
		if verdict == fsm.Conflict {
			wants = LateSuccess
		}
		require.Equal(t, wants, tr.Opens, name)
		rose := a.Version - before.Version
		require.Equal(t, before.facts() != a.facts(), rose == 1, name)
		require.Equal(t, rose*a.Version, tr.Version, name)

		once := *a
		_, again := advance(a, plain(row.News), noon.Add(time.Hour))
		require.Equal(t, once.facts(), a.facts(), name)
		require.Equal(t, once.Version, a.Version, name)
		require.Equal(t, once.UpdatedAt, a.UpdatedAt, name)
		if row.News != fsm.NewsDisputed {
			require.Contains(t, []fsm.Verdict{fsm.Repeat, fsm.Stale}, again, name)
		}
	}
}

// The version rises by one with what it counts, and by nothing else.
func TestVersionCountsFactsOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   fsm.State
		news News
		rise int
	}{
		{"stage", fsm.Requested, News{News: fsm.NewsUnknown}, 1},
		{"status and amounts at once", fsm.Authorized, plain(fsm.NewsSucceeded), 1},
		{"another address for the customer", fsm.AwaitingCustomer, News{News: fsm.NewsActionRequired, NextActionURL: "https://provider.example/2"}, 1},
		{"the same address", fsm.AwaitingCustomer, plain(fsm.NewsActionRequired), 0},
		{"no address", fsm.AwaitingCustomer, News{News: fsm.NewsActionRequired}, 0},
		{"another id of the provider's", fsm.Processing, News{News: fsm.NewsProcessing, ProviderPaymentID: "p2"}, 0},
		{"further names", fsm.Processing, News{News: fsm.NewsProcessing, Names: []string{"x"}}, 0},
		{"a soft failure", fsm.Processing, plain(fsm.NewsSoftFailed), 0},
		{"another reason", fsm.Failed, News{News: fsm.NewsFailed, Failure: &Failure{Code: "expired"}}, 0},
		{"late money", fsm.Failed, plain(fsm.NewsSucceeded), 1},
		{"a dispute", fsm.Succeeded, plain(fsm.NewsDisputed), 0},
		{"another currency", fsm.Processing, News{News: fsm.NewsSucceeded, Money: &Money{1999, "USD"}}, 0},
	} {
		a := inState(c.in)
		before := a.Version
		tr, _ := advance(a, c.news, noon)
		require.Equal(t, c.rise, a.Version-before, c.name)
		require.Equal(t, c.rise == 0, tr.Version == 0, c.name)
	}
	a := inState(fsm.Processing)
	a.ProviderPaymentID = ""
	_, verdict := advance(a, News{News: fsm.NewsProcessing, ProviderPaymentID: "p9"}, noon)
	require.Equal(t, fsm.Applied, verdict, "the provider's id is new")
	require.Equal(t, 6, a.Version)
	require.Equal(t, "p9", a.ProviderPaymentID)
}

func TestFinalErasesWhatOnlyAPendingAttemptNeeds(t *testing.T) {
	t.Parallel()
	for _, n := range []fsm.News{fsm.NewsSucceeded, fsm.NewsFailed} {
		a := inState(fsm.AwaitingCustomer)
		a.Intent = Intent{Kind: IntentCancel, Number: 3, At: noon}
		a.Failure = &Failure{Code: "insufficient_funds"}
		advance(a, plain(n), noon.Add(time.Minute))
		require.Nil(t, a.LeaseUntil)
		require.Nil(t, a.NextCheckAt)
		require.Empty(t, a.NextActionURL)
		require.Equal(t, Intent{Number: 4}, a.Intent, "a key is never used again")
		require.Equal(t, noon.Add(time.Minute), *a.FinalizedAt)
		require.Equal(t, n == fsm.NewsFailed, a.Failure != nil)
	}
	a := inState(fsm.Processing)
	advance(a, News{News: fsm.NewsFailed}, noon)
	require.Equal(t, "provider_rejected", a.Failure.Code, "a failure always has a reason")
}

// What was authorised and taken is always compared (adyen-prestashop #156).
func TestAmountsAreCompared(t *testing.T) {
	t.Parallel()
	dollars := &Money{1999, "USD"}
	partly := func(captured int64) *Attempt {
		a := inState(fsm.Succeeded)
		a.Capture, a.Captured = CaptureManual, captured
		return a
	}
	confirming := func(amount int64) *Attempt {
		a := inState(fsm.Authorized)
		a.Intent = Intent{Kind: IntentCapture, Amount: amount}
		return a
	}
	for _, c := range []struct {
		name     string
		a        *Attempt
		news     fsm.News
		money    *Money
		verdict  fsm.Verdict
		opens    DiscrepancyKind
		captured int64
	}{
		{"as asked for", inState(fsm.Processing), fsm.NewsSucceeded, euro(1999), fsm.Applied, "", 1999},
		{"not said", inState(fsm.Processing), fsm.NewsSucceeded, nil, fsm.Applied, "", 1999},
		{"more", inState(fsm.Processing), fsm.NewsSucceeded, euro(2000), fsm.Conflict, AmountMismatch, 2000},
		{"less", inState(fsm.Processing), fsm.NewsSucceeded, euro(1998), fsm.Conflict, AmountMismatch, 1998},
		{"nothing", inState(fsm.Processing), fsm.NewsSucceeded, euro(0), fsm.Conflict, AmountMismatch, 0},
		{"another currency", inState(fsm.Processing), fsm.NewsSucceeded, dollars, fsm.Conflict, CurrencyMismatch, 0},
		{"another currency, authorised", inState(fsm.Processing), fsm.NewsAuthorized, dollars, fsm.Conflict, CurrencyMismatch, 0},
		{"more, authorised", inState(fsm.Processing), fsm.NewsAuthorized, euro(2000), fsm.Conflict, AmountMismatch, 0},
		{"less, authorised", inState(fsm.Processing), fsm.NewsAuthorized, euro(1998), fsm.Conflict, AmountMismatch, 0},
		{"a part of what was held", inState(fsm.Authorized), fsm.NewsSucceeded, euro(500), fsm.Applied, "", 500},
		{"more than was held", inState(fsm.Authorized), fsm.NewsSucceeded, euro(2000), fsm.Conflict, AmountMismatch, 2000},
		{"what a confirm asked for, not said", confirming(700), fsm.NewsSucceeded, nil, fsm.Applied, "", 700},
		{"what a confirm asked for", confirming(700), fsm.NewsSucceeded, euro(700), fsm.Applied, "", 700},
		{"all, where a confirm asked for a part", confirming(700), fsm.NewsSucceeded, euro(1999), fsm.Applied, AmountMismatch, 1999},
		{"less than a confirm asked for", confirming(700), fsm.NewsSucceeded, euro(600), fsm.Applied, AmountMismatch, 600},
		{"a part, where a confirm asked for all", confirming(1999), fsm.NewsSucceeded, euro(1), fsm.Applied, AmountMismatch, 1},
		{"more than is held, where a confirm asked for a part", confirming(700), fsm.NewsSucceeded, euro(2000), fsm.Conflict, AmountMismatch, 2000},
		{"the same part again", partly(500), fsm.NewsSucceeded, euro(500), fsm.Repeat, "", 500},
		{"the same part again, not said", partly(500), fsm.NewsSucceeded, nil, fsm.Repeat, "", 500},
		{"another part", partly(500), fsm.NewsSucceeded, euro(600), fsm.Conflict, AmountMismatch, 600},
		{"late, as asked for", inState(fsm.Failed), fsm.NewsSucceeded, euro(1999), fsm.Conflict, LateSuccess, 1999},
		{"late, not said", inState(fsm.Failed), fsm.NewsSucceeded, nil, fsm.Conflict, LateSuccess, 1999},
		{"late, and more", inState(fsm.Failed), fsm.NewsSucceeded, euro(2000), fsm.Conflict, AmountMismatch, 2000},
		{"taken back in another currency", inState(fsm.Succeeded), fsm.NewsReversed, dollars, fsm.Conflict, CurrencyMismatch, 1999},
		{"an old hold", inState(fsm.Succeeded), fsm.NewsAuthorized, euro(1999), fsm.Stale, "", 1999},
	} {
		status := c.a.State.Status()
		tr, verdict := advance(c.a, News{News: c.news, Money: c.money}, noon)
		require.Equal(t, c.verdict, verdict, c.name)
		require.Equal(t, c.opens, tr.Opens, c.name)
		require.Equal(t, c.captured, c.a.Captured, c.name)
		if verdict == fsm.Conflict {
			require.Equal(t, status, c.a.State.Status(), c.name)
		}
	}
}

func TestMoneyTakenBack(t *testing.T) {
	t.Parallel()
	a := inState(fsm.Succeeded)
	a.Captured = 500
	_, verdict := advance(a, News{News: fsm.NewsReversed}, noon)
	require.Equal(t, fsm.Applied, verdict)
	require.EqualValues(t, 500, a.Reversed, "what was taken, where it is not said")
	require.Zero(t, a.Held())

	a = inState(fsm.Succeeded)
	advance(a, News{News: fsm.NewsReversed, Money: euro(300)}, noon)
	require.EqualValues(t, 1699, a.Held())
	tr, verdict := advance(a, News{News: fsm.NewsReversed, Money: euro(300)}, noon)
	require.Equal(t, fsm.Repeat, verdict)
	require.Empty(t, tr.Opens)
	tr, _ = advance(a, News{News: fsm.NewsReversed, Money: euro(1999)}, noon)
	require.Equal(t, PaymentReversed, tr.Opens)
	require.Zero(t, a.Held())
	require.Equal(t, fsm.Succeeded, a.State)
}

// model is what is asserted of an attempt whatever it hears.
type model struct {
	status   fsm.Status
	captured int64
	manual   bool
}

func (m *model) hear(n News) {
	if n.News == fsm.NewsFailed && m.status == fsm.StatusPending {
		m.status = fsm.StatusFailed
	}
	if n.News != fsm.NewsSucceeded || n.Money != nil && n.Money.Currency != "EUR" {
		return
	}
	amount, pending := int64(1999), m.status == fsm.StatusPending
	if m.captured > 0 {
		amount = m.captured
	}
	if n.Money != nil {
		amount = n.Money.Minor
	}
	if n.Money == nil || amount == 1999 || m.manual && amount > 0 && amount < 1999 {
		if pending {
			m.status = fsm.StatusSucceeded
		}
	}
	m.captured = max(m.captured, amount)
}

var anyNews = rapid.Custom(func(t *rapid.T) News {
	n := News{
		News:              rapid.SampledFrom(fsm.AllNews()).Draw(t, "news"),
		ProviderPaymentID: rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(t, "payment"),
		NextActionURL:     rapid.SampledFrom([]string{"", "https://a.example", "https://b.example"}).Draw(t, "url"),
	}
	if rapid.Bool().Draw(t, "says an amount") {
		n.Money = &Money{rapid.SampledFrom([]int64{0, 1, 500, 1998, 1999, 2000}).Draw(t, "amount"), rapid.SampledFrom([]Currency{"EUR", "EUR", "USD"}).Draw(t, "currency")}
	}
	if rapid.Bool().Draw(t, "says why") {
		n.Failure = &Failure{Code: "card_declined"}
	}
	return n
})

// Whatever is heard, in whatever order: the status moves once, the version counts
// the log, and the log makes the attempt again.
func TestAnyCourseOfNews(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := inState(fsm.Requested)
		a.Version, a.ProviderPaymentID = 1, ""
		m := model{status: fsm.StatusPending, manual: rapid.Bool().Draw(t, "manual")}
		if m.manual {
			a.Capture = CaptureManual
		}
		log, opened := []Transition{a.Born()}, []DiscrepancyKind{}
		for i, n := range rapid.SliceOfN(anyNews, 1, 40).Draw(t, "news") {
			before := *a
			tr, verdict := advance(a, n, noon.Add(time.Duration(i)*time.Second))
			m.hear(n)
			require.Equal(t, m.status, a.State.Status())
			require.Equal(t, m.captured, a.Captured)
			require.GreaterOrEqual(t, a.Reversed, before.Reversed)
			require.GreaterOrEqual(t, a.Authorized, before.Authorized)
			require.NotEqual(t, Ignored, verdict)
			if verdict == fsm.Repeat {
				require.Equal(t, before.Version, a.Version)
			}
			if tr.Version != 0 {
				log = append(log, tr)
			}
			if tr.Opens != "" {
				opened = append(opened, tr.Opens)
			}
			require.Equal(t, len(log), a.Version)
			require.Equal(t, a.Version > before.Version, shown(*a) != shown(before), "a version is what a caller can see")
			last := log[len(log)-1]
			require.Equal(t, a.facts(), last.Facts)
			require.Equal(t, a.State, last.To)
			require.Equal(t, log[max(0, len(log)-2)].To, last.From)
			consistent(t, a)
		}
		e := examination{Evidence: Evidence{Attempt: *a, Order: a.Money, Log: log, Discrepancies: opened}}
		e.replay()
		e.money()
		require.Empty(t, e.found)
	})
}

// shown are the facts that a caller can see.
func shown(a Attempt) Facts {
	f := a.facts()
	f.Authorized = 0
	return f
}

// consistent asserts what the database demands of a row.
func consistent(t *rapid.T, a *Attempt) {
	final := a.State.Final()
	require.Equal(t, final, a.FinalizedAt != nil)
	require.Equal(t, final && a.Intent.Kind == IntentNone, a.NextCheckAt == nil, "a final attempt is watched only while it is said to hold money")
	require.True(t, a.Failed() == (a.Failure != nil) || !final)
	require.True(t, a.NextActionURL == "" || a.State == fsm.AwaitingCustomer)
	require.GreaterOrEqual(t, a.Held(), int64(0))
	require.GreaterOrEqual(t, a.Authorized, a.Captured)
}

// A hold that is told of late is no less than what was taken of it.
func TestAHoldThatIsToldOfLateTakesNothingAway(t *testing.T) {
	t.Parallel()
	a := inState(fsm.Processing)
	for _, n := range []News{{News: fsm.NewsSucceeded, Money: euro(2500)}, {News: fsm.NewsAuthorized, Money: euro(1999)}} {
		advance(a, n, noon)
		require.Equal(t, []int64{2500, 2500}, []int64{a.Authorized, a.Captured}, n.News)
	}
	require.Equal(t, fsm.Authorized, a.State)
}
