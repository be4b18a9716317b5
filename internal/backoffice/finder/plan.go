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
// amount with other words is one part: it finds payments that match both. So are days with other words.
type Plan struct {
	// Texts are the spellings of the text as an id; Name is the one in lower case.
	Texts []string
	Name  string
	// Amount is nil if the text has no amount.
	Amount *Amount
	// Days are nil for any day.
	Days *Days
	// LastFour is the end of a card's number, or empty.
	LastFour string
	// Words are words that must all be in the description, the metadata or the id of an order.
	Words []string
	// Beside are further texts that the order of a payment with the amount, or of the days, must match, as words or, for one of
	// them, as the order's id or its user's.
	Beside []string
	// Otherwise are the words of such a text, for a second search if no payment has both.
	Otherwise []string
	// Unread are words about a time that were not understood and are left out.
	Unread []string
	// Note explains a choice between two meanings; empty if there was no choice.
	Note string
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
	present, ahead := without(rest, future)
	days, undated := parseDays(present, now)
	timeless, unread := without(undated, times)
	read, could := p.read(timeless, days)
	if could {
		read.Unread = append(ahead, unread...)
	} else {
		read, _ = p.read(undated, days)
	}
	p = read
	if p.Days != nil {
		p.Note = otherReading(rest, *p.Days)
	}
	if p.Amount == nil && (p.LastFour == "" || p.Days == nil) {
		p.Words = Words(cleaned)
		p.Words = p.Words[:min(len(p.Words), mostWords)]
	}
	return p
}

// read reads a text without its days as an amount, as an amount with other words, or as nothing, which days alone may have. It
// reports whether it could; otherwise the plan is unchanged.
func (p Plan) read(text string, days *Days) (Plan, bool) {
	amount, only := parseAmount(text, days != nil)
	if amount == nil && only && days != nil {
		p.Days = days
		return p, true
	}
	if amount != nil {
		p.Amount, p.Days = amount, days
		return p, true
	}
	amount, beside := parseMixed(text)
	if amount == nil && days == nil || len(beside) == 0 || len(beside) > mostWords || len(Variants(beside)) == 0 {
		return p, false
	}
	p.Amount, p.Days, p.Beside = amount, days, beside
	if amount != nil {
		words := Words(p.Name)
		p.Otherwise = words[:min(len(words), mostWords)]
	}
	return p, true
}

// fallbacks returns the plans to try in turn while nothing is found: an amount without cents as an approximate amount, and the words
// alone.
func (p Plan) fallbacks() (list []Plan) {
	if p.Amount != nil && p.Amount.round() {
		wide := p
		wide.Amount = p.Amount.widened()
		list = append(list, wide)
	}
	if len(p.Otherwise) > 0 {
		words := p
		words.Amount, words.Days, words.Beside, words.Words, words.Otherwise, words.Unread, words.Note = nil, nil, nil, p.Otherwise, nil, nil, ""
		list = append(list, words)
	}
	return list
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
	switch {
	case p.Amount != nil:
		text := "payments of " + p.Amount.String() + p.when()
		if p.LastFour != "" {
			text += " with a card that ends in " + p.LastFour
		}
		parts = append(parts, text+p.having())
	case p.LastFour != "":
		parts = append(parts, "payments with a card that ends in "+p.LastFour+p.when())
	case p.Days != nil:
		parts = append(parts, "payments"+p.when()+p.having())
	}
	if len(p.Words) > 0 {
		parts = append(parts, "ids that are or begin with this")
		what := "orders with the word "
		if len(p.Words) > 1 {
			what = "orders with the words "
		}
		parts = append(parts, what+strings.Join(p.Words, ", "))
	}
	if p.Note != "" {
		parts = append(parts, p.Note)
	}
	if len(p.Unread) > 0 {
		parts = append(parts, "not understood and left out: "+strings.Join(p.Unread, ", "))
	}
	return strings.Join(parts, "; ")
}

// having is the part of a description with the words of the order.
func (p Plan) having() string {
	if len(p.Beside) == 0 {
		return ""
	}
	return " for orders that have " + strings.Join(p.Beside, ", ")
}

// when is the part of a description with the days.
func (p Plan) when() string {
	if p.Days == nil {
		return ""
	}
	return " " + p.Days.String()
}

// invalid is a refusal of a parameter.
func invalid(field, message string) error {
	return &payment.ValidationError{Fields: []payment.FieldError{{Field: field, Message: message}}}
}
