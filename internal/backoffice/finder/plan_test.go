package finder_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
)

// now is a Thursday.
var now = time.Date(2026, 3, 12, 15, 4, 5, 0, time.UTC)

func TestParse_amounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"50 euros last tuesday":               "payments of 50 EUR on Tuesday, 10 March 2026",
		"€49.99 2026-03-03":                   "payments of 49.99 EUR on Tuesday, 3 March 2026",
		"19,99 EUR 3 March":                   "payments of 19.99 EUR on Tuesday, 3 March 2026",
		"about 50 EUR yesterday":              "payments of about 50 EUR (within 5 %) on Wednesday, 11 March 2026",
		"~50 today":                           "payments of about 50 in any currency (within 5 %) on Thursday, 12 March 2026",
		"49.99":                               "payments of 49.99 in any currency",
		"EUR49.99":                            "payments of 49.99 EUR",
		"49,99€":                              "payments of 49.99 EUR",
		"50eur on thursday":                   "payments of 50 EUR on Thursday, 5 March 2026",
		"1.234,50 € 1.3.":                     "payments of 1234.50 EUR on Sunday, 1 March 2026",
		"$1,234.50 on 28.12.2025":             "payments of 1234.50 USD, CAD, AUD and others of this sign on Sunday, 28 December 2025",
		"1 234,50 kr 31 dec":                  "payments of 1234.50 SEK, NOK, DKK and others of this sign on Wednesday, 31 December 2025",
		"£5 March 3rd, 2026":                  "payments of 5 GBP on Tuesday, 3 March 2026",
		"a payment of 500 JPY on 29 Feb":      "payments of 500 JPY on Thursday, 29 February 2024",
		"1.500 KWD":                           "payments of 1.500 KWD",
		"1.500 EUR":                           "payments of 1500 EUR",
		"49.99 eur yesterday card 4242":       "payments of 49.99 EUR on Wednesday, 11 March 2026 with a card that ends in 4242",
		"paid 20 pounds day before yesterday": "payments of 20 GBP on Tuesday, 10 March 2026",
		"about 50":                            "payments of about 50 in any currency (within 5 %)",
		"50 euros two days ago":               "payments of 50 EUR on Tuesday, 10 March 2026",
		"50 euros a week ago":                 "payments of 50 EUR from Monday, 2 March 2026 to Sunday, 8 March 2026",
		"50 eur last week":                    "payments of 50 EUR from Monday, 2 March 2026 to Sunday, 8 March 2026",
		"50 eur this week":                    "payments of 50 EUR from Monday, 9 March 2026 to Thursday, 12 March 2026",
		"50 eur tuesday last week":            "payments of 50 EUR on Tuesday, 3 March 2026",
		"50 eur last week on friday":          "payments of 50 EUR on Friday, 6 March 2026",
		"50 eur last month":                   "payments of 50 EUR from Sunday, 1 February 2026 to Saturday, 28 February 2026",
		"50 eur in the last 3 days":           "payments of 50 EUR from Monday, 9 March 2026 to Thursday, 12 March 2026",
		"50 eur last weekend":                 "payments of 50 EUR from Saturday, 7 March 2026 to Sunday, 8 March 2026",
		"50 eur a couple of months ago":       "payments of 50 EUR from Thursday, 1 January 2026 to Saturday, 31 January 2026",
		"50 eur 11/24":                        "payments of 50 EUR on Monday, 24 November 2025",
		"50 eur 24/11":                        "payments of 50 EUR on Monday, 24 November 2025",
		"50 eur 24.11.":                       "payments of 50 EUR on Monday, 24 November 2025",
		"$50 on 11/24/25":                     "payments of 50 USD, CAD, AUD and others of this sign on Monday, 24 November 2025",
		"50 eur 3/4":                          "payments of 50 EUR on Wednesday, 4 March 2026; 3/4 is read as month/day, so type 3 April if you mean that day",
		"50 eur on the 24th":                  "payments of 50 EUR on Tuesday, 24 February 2026",
		"50 eur yesterday evening":            "payments of 50 EUR on Wednesday, 11 March 2026; not understood and left out: evening",
		"50 eur next friday":                  "payments of 50 EUR; not understood and left out: next friday",
		"50 eur on 31.2.2026":                 "payments of 50 EUR; not understood and left out: on 31.2.2026",
		"50 eur 2099-01-01":                   "payments of 50 EUR; not understood and left out: 2099-01-01",
		"50 eur 3 march at 14:30":             "payments of 50 EUR on Tuesday, 3 March 2026; not understood and left out: at 14:30",
		"50 eur an hour ago":                  "payments of 50 EUR; not understood and left out: an hour ago",
	} {
		plan := finder.Parse(text, now)
		require.NotNil(t, plan.Amount, text)
		require.Empty(t, plan.Words, text)
		require.Equal(t, want, strings.ReplaceAll(plan.Understood(), " (UTC)", ""), text)
	}
}

func TestParse_amounts_with_words(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		amount string
		beside []string
	}{
		"12.50 umbrella":                    {"12.50 in any currency", []string{"umbrella"}},
		"umbrella 12,50":                    {"12.50 in any currency", []string{"umbrella"}},
		"12.50 EUR ann@shop.example":        {"12.50 EUR", []string{"ann@shop.example"}},
		"Ann@Shop.example, EUR 12.50":       {"12.50 EUR", []string{"ann@shop.example"}},
		"about 120 euros tickets":           {"about 120 EUR (within 5 %)", []string{"tickets"}},
		"I paid ~€120 for the blue tickets": {"about 120 EUR (within 5 %)", []string{"blue", "tickets"}},
		"49,99€ W-1001":                     {"49.99 EUR", []string{"w-1001"}},
		"size 40 shirt 50eur":               {"50 EUR", []string{"size", "40", "shirt"}},
		"cup 12.50 EUR":                     {"12.50 EUR", []string{"cup"}},
		"EUR 12.50 cup":                     {"12.50 EUR", []string{"cup"}},
		"1,234.50 usd hat":                  {"1234.50 USD", []string{"hat"}},
	} {
		plan := finder.Parse(text, now)
		require.NotNil(t, plan.Amount, text)
		require.Equal(t, want.amount, plan.Amount.String(), text)
		require.Equal(t, want.beside, plan.Beside, text)
		require.Empty(t, plan.Words, text)
		require.NotEmpty(t, plan.Otherwise, text)
	}
	plan := finder.Parse("€12.50 umbrella 3 March card 4242", now)
	require.Equal(t, []string{"umbrella"}, plan.Beside)
	require.Equal(t, "4242", plan.LastFour)
	require.Equal(t, "2026-03-03", plan.Days.First.Format(time.DateOnly))
	require.Contains(t, plan.Understood(), "with a card that ends in 4242 for orders that have umbrella")
	for _, text := range []string{"9 shirts", "12.50 EUR 9.99 hat", "hat 50 JPY 12.50", "12.5 JPY hat", "version 1.2.3 EUR", "12.50", "a 12.50 EUR !"} {
		require.Empty(t, finder.Parse(text, now).Beside, text)
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"blue ann shop example", "=blue ann shop example", "@blue ann shop example", "=ann@shop.example blue", "@ann@shop.example blue",
	}, finder.Variants([]string{"blue", "ann@shop.example"}))
	require.Equal(t, []string{"=u", "@u"}, finder.Variants([]string{"u"}), "it is too short for a word")
}

func TestParse_ranges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]finder.Range{
		"49.99 EUR":    {{Low: 4999, High: 4999, Digits: 2}},
		"about 50 EUR": {{Low: 4750, High: 5250, Digits: 2}},
		"500 yen":      {{Low: 500, High: 500, Digits: 0}},
		"1.5 KWD":      {{Low: 1500, High: 1500, Digits: 3}},
		"50 today":     {{Low: 50, High: 50, Digits: 0}, {Low: 5000, High: 5000, Digits: 2}, {Low: 50_000, High: 50_000, Digits: 3}},
		"49.99 today":  {{Low: 4999, High: 4999, Digits: 2}, {Low: 49_990, High: 49_990, Digits: 3}},
		"50.00 ¥":      {{Low: 50, High: 50, Digits: 0}, {Low: 5000, High: 5000, Digits: 2}},
	} {
		require.Equal(t, want, finder.Parse(text, now).Amount.Ranges, text)
	}
}

func TestParse_no_amounts(t *testing.T) {
	t.Parallel()
	for text, words := range map[string][]string{
		"W-1001":                {"1001"},
		"#w-1001":               {"1001"},
		"blue shirt":            {"blue", "shirt"},
		"Blue  SHIRT, size 40":  {"blue", "shirt", "size", "40"},
		"12345":                 {"12345"},
		"49.99 EUR and 12 USD":  {"49", "99", "eur", "and", "12", "usd"},
		"49.99 JPY":             {"49", "99", "jpy"},
		"sun cream":             {"sun", "cream"},
		"0 EUR":                 {"eur"},
		"99999999999999999 EUR": {"99999999999999999", "eur"},
		"yesterday":             {"yesterday"},
		"2026-03-03":            {"2026", "03"},
		"2099-01-01":            {"2099", "01"},
		"12.50 EUR 9.99 hat":    {"12", "50", "eur", "99", "hat"},
		"Größe ЖЁЛТЫЙ 東京":       {"größe", "жёлтый", "東京"},
		"one two three four five six seven eight nine": {"one", "two", "three", "four", "five", "six", "seven", "eight"},
	} {
		plan := finder.Parse(text, now)
		require.Nil(t, plan.Amount, text)
		require.Equal(t, words, plan.Words, text)
	}
}

func TestParse_texts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"w-1001":     {"w-1001", "W-1001"},
		`"#W-1001" `: {`"#W-1001"`, "W-1001", "w-1001"},
		"«Order-7»":  {"«Order-7»", "Order-7", "order-7", "ORDER-7"},
		"u1":         {"u1", "U1"},
		"#":          {"#"},
	} {
		require.Equal(t, want, finder.Parse(text, now).Texts, text)
	}
}

func TestParse_cards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4242": "4242", "•••• 4242": "4242", "****4242": "4242", "xxxx-4242": "4242", "card 4242": "4242", "ending in 4242": "4242",
		"Last four 4242": "4242", "…4242": "4242", "42420": "", "W-4242": "", "4242 shirts": "", "": "",
	} {
		require.Equal(t, want, finder.Parse(text, now).LastFour, text)
	}
	plan := finder.Parse("card ending in 4242 yesterday", now)
	require.Equal(t, "2026-03-11", plan.Days.First.Format(time.DateOnly))
}

// Days alone find their payments, and words of a time find orders, too.
func TestParse_days(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"yesterday":         "payments on Wednesday, 11 March 2026 (UTC)",
		"two days ago":      "payments on Tuesday, 10 March 2026 (UTC)",
		"last week":         "payments from Monday, 2 March 2026 to Sunday, 8 March 2026 (UTC)",
		"11/24":             "payments on Monday, 24 November 2025 (UTC)",
		"24.11.":            "payments on Monday, 24 November 2025 (UTC)",
		"yesterday morning": "payments on Wednesday, 11 March 2026 (UTC)",
		"shirt last week":   "payments from Monday, 2 March 2026 to Sunday, 8 March 2026 (UTC) for orders that have shirt",
		"sun cream":         "payments on Sunday, 8 March 2026 (UTC) for orders that have cream",
	} {
		plan := finder.Parse(text, now)
		require.Nil(t, plan.Amount, text)
		require.NotEmpty(t, plan.Words, text)
		understood := plan.Understood()
		require.Equal(t, want+"; ids that are or begin with this", understood[:strings.Index(understood, "; orders with the word")], text)
	}
	require.Contains(t, finder.Parse("yesterday morning", now).Understood(), "not understood and left out: morning")
}

// A day is a day of the shop's time zone.
func TestDays(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	late := time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC) // Monday in Berlin
	d := *finder.Parse("5 EUR yesterday", late.In(zone)).Days
	require.Equal(t, "2026-03-29T00:00:00+01:00", d.From().Format(time.RFC3339))
	require.Equal(t, "2026-03-30T00:00:00+02:00", d.To().Format(time.RFC3339), "this day has 23 hours")
	require.Equal(t, "on Sunday, 29 March 2026 (Europe/Berlin)", d.String())
	require.Equal(t, "on Saturday, 28 March 2026 (UTC)", finder.Parse("5 EUR yesterday", late).Days.String())
}

// The search has the same number of digits for each currency as amounts have.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	for code, digits := range map[string]int{"EUR": 2, "JPY": 0, "KWD": 3} {
		text, _ := payment.Money{Minor: 1000, Currency: payment.Currency(code)}.Wire().Decimal()
		_, fraction, _ := strings.Cut(text, ".")
		require.Len(t, fraction, digits, code)
	}
	for digits, codes := range map[int][]string{0: finder.WithoutDigits(), 3: finder.WithThreeDigits()} {
		for _, code := range codes {
			text, listed := payment.Money{Minor: 1000, Currency: payment.Currency(code)}.Wire().Decimal()
			_, fraction, _ := strings.Cut(text, ".")
			require.True(t, listed, code)
			require.Len(t, fraction, digits, code)
		}
	}
	// All other codes have two digits, except the units of account of Chile and Uruguay, in which nothing is paid.
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			for c := 'A'; c <= 'Z'; c++ {
				code := string([]rune{a, b, c})
				text, listed := payment.Money{Minor: 1000, Currency: payment.Currency(code)}.Wire().Decimal()
				if listed && text != "10.00" && code != "CLF" && code != "UYW" {
					require.Contains(t, append(finder.WithoutDigits(), finder.WithThreeDigits()...), code)
				}
			}
		}
	}
}

func TestOrderWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"=w-1001", "@ann@example", "1001", "blue", "shirt", "summer", "sale", "inv", "77"}, finder.OrderWords(finder.Order{
		ID: "W-1001", User: "Ann@Example", Description: "Blue shirt, blue", Metadata: map[string]string{"b": "INV-77", "a": "Summer sale!"},
	}))
	require.Len(t, finder.OrderWords(finder.Order{ID: "a", User: "b", Description: strings.Repeat("x ", 50) + manyWords()}), 100)
}

func manyWords() string {
	var b strings.Builder
	for r := 'a'; r < 'a'+20; r++ {
		for s := 'a'; s < 'a'+20; s++ {
			b.WriteString(string([]rune{r, s, ' '}))
		}
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"W-1001", "about 50 EUR yesterday", "19,99 EUR 3 March", "•••• 4242", "#", "1.1.1", "\xff", "49.99.9 $ 29 feb", "1 234 567,89 €", "€€ 5 5 5", "3/4 last 999 months", "the 31st", "50 eur 13/13 tuesday last week at 2pm"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plan := finder.Parse(text, now)
		for _, s := range plan.Texts {
			require.True(t, utf8.ValidString(s))
		}
		require.LessOrEqual(t, max(len(plan.Words), len(plan.Beside)), 8)
		require.True(t, len(plan.Beside) == 0 || plan.Amount != nil || plan.Days != nil)
		require.LessOrEqual(t, len(finder.Variants(plan.Beside)), 17)
		if plan.Amount != nil {
			require.NotEmpty(t, plan.Amount.Ranges)
			for _, r := range plan.Amount.Ranges {
				require.LessOrEqual(t, r.Low, r.High)
				require.Positive(t, r.Low)
			}
		}
		if plan.Days != nil {
			require.False(t, finder.StartOfDay(plan.Days.Last, 0).After(now))
			require.False(t, plan.Days.First.After(plan.Days.Last))
		}
		_ = plan.Understood()
	})
}

func TestMoneyIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, code, want string }{
		{"49.99", "EUR", "49.99 EUR"},
		{"49,99", "EUR", "49.99 EUR"},
		{"€49.99", "", "49.99 EUR"},
		{"1 234,50 EUR", "EUR", "1234.50 EUR"},
		{"20", "JPY", "20 JPY"},
		{"1.500", "KWD", "1.500 KWD"},
		{"$20", "CAD", "20.00 CAD"},
		{"49.99", "", ""},
		{"49.99 USD", "EUR", ""},
		{"49.99", "JPY", ""},
		{"about 50", "EUR", ""},
		{"much", "EUR", ""},
		{"-5", "EUR", ""},
		{"5 6", "EUR", ""},
		{"5", "XYZ", ""},
	} {
		got := ""
		if m, ok := finder.MoneyIn(c.text, c.code); ok {
			got = m.String()
		}
		require.Equal(t, c.want, got, "%q in %q", c.text, c.code)
	}
}
