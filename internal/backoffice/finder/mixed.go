package finder

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// amountWord is a number with, perhaps, a sign or a code before or behind it.
	amountWord = regexp.MustCompile(`^(about|~|≈|±)?(us\$|r\$|[€$£¥₽₴₸₹₩₪₺₫]|[a-z]{3})?([0-9][0-9.,'’]*-{0,2})(us\$|r\$|[€$£¥₽₴₸₹₩₪₺₫]|\p{L}{2,6})?$`)
	// decimal has cents. A number without a currency counts as an amount beside other words only if it has cents.
	decimal = regexp.MustCompile(`[.,][0-9]{1,2}$|[.,]-{1,2}$`)
	// undone matches a word that looks like a day or a version, but was read as neither.
	undone = regexp.MustCompile(`^[^\p{L}]*[0-9][.,/\-][^\p{L}]*$`)
)

// times matches words about a time that no form of days has read.
var times = regexp.MustCompile(`(?:^|\s)(?:(?:at|on|in|the|since|until|till|before|after|around|about|between|from|to|or) )*(?:` +
	`(?:last|next|past|this|previous|coming) (?:(?:few|couple of|` + count + `) )?(?:day|week|month|year|hour|minute|night|evening|morning|afternoon|weekend|` + weekdayNames + `)s?|` +
	`(?:` + count + `|few|some|many) (?:minute|hour|day|week|month|year)s? ago|ago|tomorrow|tonight|recently|earlier|o'clock|` +
	`[0-9]{1,2}:[0-9]{2}(?: ?[ap]\.?m\.?)?|[0-9]{1,2} ?[ap]\.?m\.?|(?:early |late )?(?:morning|afternoon|evening|noon|midnight)|` +
	`(?:mon|tues|wednes|thurs|fri|satur|sun)day|[0-9]{1,2}(?:st|nd|rd|th)|[0-9]{1,2}\.? (?:` + monthNames + `)|(?:` + monthNames + `) [0-9]{1,2}(?: [0-9]{4})?|` +
	`[0-9]{1,4}/[0-9]{1,2}(?:/[0-9]{1,4})?|[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,4}|[0-9]{1,2}\.[0-9]{1,2}\.(?:[0-9]{2,4})?|(?:january|february|april|june|july|august|september|october|november|december)` +
	`)(?:[,.;!?)]*(?:\s|$))`)

// future matches days that have not begun. They are left out before the days are read, since "next friday" ends like "friday".
var future = regexp.MustCompile(`(?:^|\s)(?:on |in )?(?:the )?(?:next|coming) (?:(?:few|couple of|` + count + `) )?(?:day|week|month|year|` + weekdayNames + `)s?(?:[,.;!?)]*(?:\s|$))`)

// without returns a text in lower case without the matches of a form, and these.
func without(text string, form *regexp.Regexp) (rest string, unread []string) {
	for {
		at := form.FindStringIndex(text)
		if at == nil {
			return text, unread
		}
		unread = append(unread, strings.Trim(text[at[0]:at[1]], " ,.;!?)"))
		text = text[:at[0]] + " " + text[at[1]:]
	}
}

// piece is a word of a text as a part of an amount.
type piece struct {
	number string
	codes  []string
	near   bool
}

// pieceOf reads a word that is a number, alone or with a currency directly before or behind it.
func pieceOf(word string) (piece, bool) {
	m := amountWord.FindStringSubmatch(word)
	if m == nil || !number.MatchString(m[3]) || m[2] != "" && m[4] != "" {
		return piece{}, false
	}
	p := piece{number: m[3], near: m[1] != ""}
	if code := m[2] + m[4]; code != "" {
		if p.codes = currenciesOf(code); p.codes == nil {
			return piece{}, false
		}
	}
	return p, true
}

// parseMixed reads a text in lower case that has one amount among other words. It returns the amount and the other words without
// fillers. The amount must have a currency or cents. It returns no amount if the text has none, and no words if it has several
// amounts, or no other words.
func parseMixed(text string) (a *Amount, rest []string) {
	words := strings.Fields(text)
	for i := range words {
		words[i] = strings.Trim(words[i], `,;:!?()"#№`)
	}
	var found []piece
	for i := 0; i < len(words); i++ {
		p, ok := pieceOf(words[i])
		if !ok {
			rest = append(rest, words[i])
			continue
		}
		before := len(rest) - 1
		switch {
		case p.codes != nil:
		case i+1 < len(words) && currencyBeside(words[i+1]) != nil:
			p.codes = currencyBeside(words[i+1])
			i++
		case before >= 0 && currencyBeside(rest[before]) != nil:
			p.codes, rest = currencyBeside(rest[before]), rest[:before]
		}
		if p.codes == nil && !decimal.MatchString(p.number) {
			rest = append(rest, p.number)
			continue
		}
		if n := len(rest); n > 0 && slices.Contains(about(), rest[n-1]) {
			p.near, rest = true, rest[:n-1]
		}
		found = append(found, p)
	}
	rest = slices.DeleteFunc(rest, func(w string) bool { return w == "" || slices.Contains(fillers(), w) })
	if len(found) > 1 || len(rest) == 0 || slices.ContainsFunc(rest, undone.MatchString) {
		return nil, nil
	}
	if len(found) == 0 {
		return nil, rest
	}
	return amountOf(found[0].number, found[0].codes, found[0].near), rest
}

// currencyBeside is currenciesOf a word that is no other one.
func currencyBeside(word string) []string {
	if slices.Contains(strings.Fields("all bam cup gel mad pen sos top try"), word) {
		return nil
	}
	return currenciesOf(word)
}

// Variants returns the ways in which an order can match all texts: each text as words, or one of the texts as the order's id or
// its user's. The words of a variant stand between spaces. A text without a searchable word can match only as a name.
func Variants(texts []string) []string {
	var variants []string
	add := func(name string, but int) {
		var words []string
		if name != "" {
			words = append(words, name)
		}
		for i, text := range texts {
			if i == but {
				continue
			}
			of := Words(text)
			if len(of) == 0 {
				return
			}
			words = append(words, of...)
		}
		variants = append(variants, strings.Join(words, " "))
	}
	add("", -1)
	for i, text := range texts {
		for _, name := range Names(text, text) {
			add(name, i)
		}
	}
	return variants
}
