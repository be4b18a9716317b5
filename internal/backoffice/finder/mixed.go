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
// fillers. The amount must have a currency or cents. It returns nil if the text has no amount, several amounts, or no other
// words.
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
	if len(found) != 1 || len(rest) == 0 || slices.ContainsFunc(rest, undone.MatchString) {
		return nil, nil
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
