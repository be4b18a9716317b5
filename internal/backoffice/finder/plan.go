package finder

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/payment"
)

// Plan holds the possible meanings of a text. All of its parts are searched, except the words of a text that is an amount. An
// amount with other words is one part: it finds payments that match both.
type Plan struct {
	// Texts are the spellings of the text as an id; Name is the one in lower case.
	Texts []string
	Name  string
	// Amount is nil if the text has no amount.
	Amount *Amount
	// Day is nil for any day.
	Day *Day
	// LastFour is the end of a card's number, or empty.
	LastFour string
	// Words are words that must all be in the description, the metadata or the id of an order.
	Words []string
	// Beside are further texts that the order of a payment with the amount must match, as words or, for one of them, as the
	// order's id or its user's.
	Beside []string
	// Otherwise are the words of such a text, for a second search if no payment has both.
	Otherwise []string
}

const (
	// mostQuery bounds a text in bytes. A provider's stored id is at most as long; a user's may be longer, and is found by its beginning.
	mostQuery = 512
	// mostWords is how many words of a text are looked for.
	mostWords = 8
)

// quotes are the characters that people copy around a text; a # stands before it.
const quotes = "\"'`“”„‟«»‹›‘’‚ \t\r\n\u00a0"

// digitsOfCard matches four digits with a sign or a word that marks them as a card's.
var (
	digitsOfCard = regexp.MustCompile(`(?:[*•·…xX]{1,16}|\.{3,16}|\b(?:card|ending(?: in| with)?|ends(?: in| with)?|last (?:4|four)(?: digits)?))[ \-]*([0-9]{4})\b`)
	fourDigits   = regexp.MustCompile(`^[0-9]{4}$`)
)

// Parse reads a text and never fails. A text that is not an amount, a day or a card's digits is an id or words. A day without a
// year is the last such day up to now.
func Parse(text string, now time.Time) Plan {
	cleaned := strings.TrimLeft(strings.Trim(text, quotes), "#№"+quotes)
	if cleaned == "" {
		cleaned = strings.TrimSpace(text)
	}
	p := Plan{Texts: spellings(strings.TrimSpace(text), cleaned), Name: strings.ToLower(cleaned)}
	rest := " " + p.Name + " "
	if m := digitsOfCard.FindStringSubmatchIndex(rest); m != nil {
		p.LastFour, rest = rest[m[2]:m[3]], rest[:m[0]]+" "+rest[m[1]:]
	} else if fourDigits.MatchString(cleaned) {
		p.LastFour = cleaned
	}
	day, without := parseDay(rest, now)
	amount, only := parseAmount(without, day != nil)
	switch {
	case amount != nil:
		p.Amount, p.Day = amount, day
	case only && day != nil && p.LastFour != "":
		p.Day = day
	default:
		p.Words = Words(cleaned)
		p.Words = p.Words[:min(len(p.Words), mostWords)]
		p = p.mixed(without, day)
	}
	return p
}

// mixed returns the plan of a text with an amount and other words, or p if the text is not of this form.
func (p Plan) mixed(text string, day *Day) Plan {
	amount, beside := parseMixed(text)
	if amount != nil && len(beside) <= mostWords && len(Variants(beside)) > 0 {
		p.Amount, p.Day, p.Beside, p.Otherwise, p.Words = amount, day, beside, p.Words, nil
	}
	return p
}

// otherwise is the plan of the words alone.
func (p Plan) otherwise() Plan {
	p.Amount, p.Day, p.Beside, p.Words, p.Otherwise = nil, nil, nil, p.Otherwise, nil
	return p
}

// spellings returns a text as it stands, without the surrounding quotes, and in the cases that ids have.
func spellings(text, cleaned string) []string {
	first, size := utf8.DecodeRuneInString(cleaned)
	all := []string{text, cleaned, strings.ToLower(cleaned), strings.ToUpper(cleaned), string(unicode.ToUpper(first)) + strings.ToLower(cleaned[size:])}
	var once []string
	for _, s := range all {
		if !contains(once, s) && utf8.ValidString(s) && len(s) <= mostQuery {
			once = append(once, s)
		}
	}
	return once
}

func contains(list []string, text string) bool {
	return slices.Contains(list, text)
}

// Understood describes the plan in words.
func (p Plan) Understood() string {
	var parts []string
	if p.Amount != nil {
		text := "payments of " + p.Amount.String()
		if p.Day != nil {
			text += " on " + p.Day.String()
		}
		if p.LastFour != "" {
			text += " with a card that ends in " + p.LastFour
		}
		if len(p.Beside) > 0 {
			text += " for orders that have " + strings.Join(p.Beside, ", ")
		}
		return text
	}
	if p.LastFour != "" {
		text := "payments with a card that ends in " + p.LastFour
		if p.Day != nil {
			text += " on " + p.Day.String()
		}
		parts = append(parts, text)
	}
	if len(p.Words) > 0 {
		parts = append(parts, "ids that are or begin with this")
		what := "orders with the word "
		if len(p.Words) > 1 {
			what = "orders with the words "
		}
		parts = append(parts, what+strings.Join(p.Words, ", "))
	}
	return strings.Join(parts, "; ")
}

// invalid is a refusal of a parameter.
func invalid(field, message string) error {
	return &payment.ValidationError{Fields: []payment.FieldError{{Field: field, Message: message}}}
}
