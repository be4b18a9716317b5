package finder

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// Amount is an amount as people write it, in one or several currencies.
type Amount struct {
	// Currencies are the possible currencies of the amount; empty for any.
	Currencies []string
	// Ranges are the amount in minor units, a range for each number of digits that a currency may have.
	Ranges []Range
	// About widens the amount to five percent.
	About bool
	text  string
}

// Range is from Low to High, both included, in the minor units of currencies with so many digits.
type Range struct {
	Low, High int64
	Digits    int
}

// String returns the amount with a decimal point and with its currencies.
func (a Amount) String() string {
	text := a.text + " " + strings.Join(a.Currencies, ", ")
	switch {
	case len(a.Currencies) == 0:
		text = a.text + " in any currency"
	case len(a.Currencies) > mostNamed:
		text = a.text + " " + strings.Join(a.Currencies[:mostNamed], ", ") + " and others of this sign"
	}
	if a.About {
		return "about " + text + " (within 5 %)"
	}
	return text
}

// mostNamed is how many currencies of one sign are named.
const mostNamed = 3

// AnyAmount is an amount that every payment has.
func AnyAmount() Amount {
	var a Amount
	for _, digits := range []int{0, 2, 3} {
		a.Ranges = append(a.Ranges, Range{Low: 1, High: payment.MaxAmount, Digits: digits})
	}
	return a
}

// round reports whether an amount was typed without cents, as people round it.
func (a Amount) round() bool { return !a.About && !strings.Contains(a.text, ".") }

// widened is an exact amount as an approximate one.
func (a Amount) widened() *Amount { return amountOf(a.text, a.Currencies, true) }

// WithoutDigits and WithThreeDigits are the currencies of ISO 4217 without minor units, and with a thousand; all others have a hundred.
func WithoutDigits() []string {
	return strings.Fields("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF")
}

// WithThreeDigits returns the currencies with a thousand minor units.
func WithThreeDigits() []string { return strings.Fields("BHD IQD JOD KWD LYD OMR TND") }

// signs returns the signs and words of currencies, in lower case, with their currencies; the likeliest currency is the first.
func signs() map[string]string {
	return map[string]string{
		"€": "EUR", "euro": "EUR", "euros": "EUR", "eur": "EUR",
		"$": "USD CAD AUD NZD SGD HKD MXN", "dollar": "USD CAD AUD NZD SGD HKD", "dollars": "USD CAD AUD NZD SGD HKD", "us$": "USD", "bucks": "USD",
		"£": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "¥": "JPY CNY", "yen": "JPY", "yuan": "CNY", "rmb": "CNY",
		"₽": "RUB", "ruble": "RUB", "rubles": "RUB", "rouble": "RUB", "roubles": "RUB", "руб": "RUB", "₴": "UAH", "₸": "KZT",
		"₹": "INR", "rupee": "INR", "rupees": "INR", "zł": "PLN", "zloty": "PLN", "zlotys": "PLN", "złoty": "PLN", "kč": "CZK", "koruna": "CZK", "korunas": "CZK",
		"ft": "HUF", "forint": "HUF", "forints": "HUF", "lei": "RON", "kr": "SEK NOK DKK ISK", "krona": "SEK", "kronor": "SEK", "krone": "NOK DKK", "kroner": "NOK DKK",
		"fr": "CHF", "francs": "CHF XAF XOF", "franc": "CHF XAF XOF", "₩": "KRW", "won": "KRW", "₪": "ILS", "₺": "TRY", "lira": "TRY", "r$": "BRL", "reais": "BRL", "₫": "VND",
		"dinar": "KWD BHD JOD TND IQD LYD RSD", "dinars": "KWD BHD JOD TND IQD LYD RSD",
	}
}

var (
	// sign matches a sign that may touch the number without a space.
	sign   = regexp.MustCompile(`us\$|r\$|[€$£¥₽₴₸₹₩₪₺₫~≈±]`)
	number = regexp.MustCompile(`^[0-9]{1,3}(?:[.,' ’][0-9]{3})+(?:[.,][0-9]{1,2})?$|^[0-9]{1,13}(?:[.,][0-9]{1,3})?$|^[0-9]{1,13}[.,]-{1,2}$`)
	// codeFirst and codeLast match a number and a currency without a space between them.
	codeFirst = regexp.MustCompile(`(^|\s)([a-z]{3})([0-9])`)
	codeLast  = regexp.MustCompile(`([0-9])(\p{L}{2,6})(\s|$)`)
	iso       = regexp.MustCompile(`^[a-z]{3}$`)
)

// fillers returns words beside an amount that change nothing. Words such as "about" widen the amount.
func fillers() []string {
	return strings.Fields("a of for on at in the by payment payments paid pay charge charged charges was were i my card customer order amount total from exactly and")
}

func about() []string {
	return strings.Fields("~ ≈ ± about approx approx. approximately around circa ca ca. roughly nearly some")
}

// parseAmount reads a text in lower case that contains only an amount. A whole number without a currency is an amount only
// beside a day or after "about". If there is no amount, it reports whether the text has only fillers.
func parseAmount(text string, dated bool) (a *Amount, empty bool) {
	text = sign.ReplaceAllString(text, " $0 ")
	text = codeLast.ReplaceAllString(codeFirst.ReplaceAllString(text, "$1$2 $3"), "$1 $2$3")
	var numbers, codes []string
	near := false
	for w := range strings.FieldsSeq(text) {
		switch {
		case slices.Contains(about(), w):
			near = true
		case slices.Contains(fillers(), w):
		case number.MatchString(w):
			numbers = append(numbers, w)
		default:
			known := currenciesOf(strings.Trim(w, ".,;:!?()"))
			if known == nil || codes != nil {
				return nil, false
			}
			codes = known
		}
	}
	if len(numbers) > 1 && codes == nil && !dated && !near {
		return nil, false
	}
	value := strings.Join(numbers, "")
	if len(numbers) > 1 && !grouped(numbers) || len(numbers) == 0 {
		return nil, len(numbers) == 0 && codes == nil && !near
	}
	if codes == nil && !dated && !near && !strings.ContainsAny(value, ".,") {
		return nil, false
	}
	return amountOf(value, codes, near), false
}

// grouped reports whether the numbers are one number with spaces between its thousands.
func grouped(numbers []string) bool {
	for i, n := range numbers {
		whole, _, _ := strings.Cut(strings.ReplaceAll(n, ",", "."), ".")
		if i > 0 && len(whole) != 3 || i == 0 && len(whole) > 3 || i < len(numbers)-1 && whole != n {
			return false
		}
	}
	return true
}

// currenciesOf returns the currencies of a word or sign, or nil.
func currenciesOf(word string) []string {
	if list, ok := signs()[word]; ok {
		return strings.Fields(list)
	}
	code := strings.ToUpper(word)
	if _, listed := (payment.Money{Currency: payment.Currency(code)}).Wire().Decimal(); iso.MatchString(word) && listed {
		return []string{code}
	}
	return nil
}

func digitsOf(currency string) int {
	switch {
	case slices.Contains(WithoutDigits(), currency):
		return 0
	case slices.Contains(WithThreeDigits(), currency):
		return 3
	}
	return 2
}

// amountOf returns nil for an amount that no currency of the list can have.
func amountOf(text string, codes []string, near bool) *Amount {
	three := slices.ContainsFunc(codes, func(c string) bool { return digitsOf(c) == 3 })
	whole, fraction := split(text, three)
	a := &Amount{Currencies: codes, About: near, text: whole}
	if fraction != "" {
		a.text += "." + fraction
	}
	for digits := range 4 {
		fits := func(c string) bool { return digitsOf(c) == digits }
		if digits == 1 || codes != nil && !slices.ContainsFunc(codes, fits) {
			continue
		}
		if r, ok := rangeOf(whole, fraction, digits, near); ok {
			a.Ranges = append(a.Ranges, r)
		}
	}
	if a.Ranges == nil {
		return nil
	}
	return a
}

// split separates the digits behind the decimal point from the digits before it. A single point or comma before three digits is
// a thousands separator unless the currency has three digits.
func split(text string, three bool) (whole, fraction string) {
	text = strings.TrimRight(strings.NewReplacer("'", "", "’", "", " ", "").Replace(text), "-")
	at := strings.LastIndexAny(text, ".,")
	if at < 0 {
		return text, ""
	}
	whole, fraction = strings.NewReplacer(".", "", ",", "").Replace(text[:at]), text[at+1:]
	if len(fraction) == 3 && !three {
		return whole + fraction, ""
	}
	return whole, fraction
}

// tolerance is how far an amount with "about" may differ, in percent.
const tolerance = 5

func rangeOf(whole, fraction string, digits int, near bool) (Range, bool) {
	significant := strings.TrimRight(fraction, "0")
	if len(significant) > digits {
		return Range{}, false
	}
	minor, err := strconv.ParseInt(whole+significant+strings.Repeat("0", digits-len(significant)), 10, 64)
	if err != nil || minor < 1 || minor > payment.MaxAmount {
		return Range{}, false
	}
	r := Range{Low: minor, High: minor, Digits: digits}
	if near {
		part := minor * tolerance / 100
		r.Low, r.High = max(1, minor-part), minor+part
	}
	return r, true
}

// MoneyIn reads an amount in a currency, as people write it. The text may have the currency beside the amount, and must have it
// if code is empty. It returns false if the text is not an amount of one currency.
func MoneyIn(text, code string) (payment.Money, bool) {
	a, _ := parseAmount(strings.ToLower(text+" "+code), true)
	if a == nil { // it has its own currency
		a, _ = parseAmount(strings.ToLower(text), true)
	}
	if a == nil || a.About || len(a.Currencies) == 0 {
		return payment.Money{}, false
	}
	if code == "" {
		code = a.Currencies[0]
	}
	one := amountOf(a.text, []string{code}, false)
	if one == nil || !slices.Contains(a.Currencies, code) {
		return payment.Money{}, false
	}
	return payment.Money{Minor: one.Ranges[0].Low, Currency: payment.Currency(code)}, true
}
