package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CardNumberIn finds card numbers in clear. A card number is a run of digits of any script, in one piece or with up to two
// separators between digits. Its first digits and its length are those of a card network, and its check digit is right (ISO/IEC
// 7812-1, Luhn's check).
//
// Digits in some places can't be a card number and are left alone: digits within a hexadecimal word or a UUID, and up to 13
// digits of a telephone number after its plus sign.

const (
	shortest = 13
	longest  = 19
	// separators is how many of them may stand between two digits of a number.
	separators = 2
	// telephone is the maximum number of digits after a plus sign that may be a telephone number and look like a card's. No
	// telephone number of 14 or more digits begins like a card's.
	telephone = 13
	// hexID is the minimum length of a hexadecimal word that counts as an id. hexLook is how far to either side of the digits
	// the word is examined.
	hexID   = 16
	hexLook = 64
)

// network is a range of the first four digits of a card network's numbers, and the possible numbers of digits.
type network struct{ first, last, fewest, most int }

func networks() [18]network {
	return [...]network{
		{4000, 4999, 13, 13}, {4000, 4999, 16, 16}, {4000, 4999, 19, 19}, // Visa
		{5100, 5599, 16, 16}, {2221, 2720, 16, 16}, // Mastercard
		{3400, 3499, 15, 15}, {3700, 3799, 15, 15}, // American Express
		{3000, 3059, 14, 19}, {3095, 3095, 14, 19}, {3600, 3699, 14, 19}, {3800, 3999, 14, 19}, // Diners Club
		{3528, 3589, 16, 19},                       // JCB
		{5000, 5099, 16, 19}, {5600, 6999, 16, 19}, // Maestro, Discover, RuPay, UnionPay
		{2200, 2205, 16, 19},                                             // Mir, Borica
		{8100, 8299, 16, 16}, {8600, 8600, 16, 16}, {9792, 9792, 16, 16}, // RuPay, Uzcard, Troy
	}
}

var uuid = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// CardNumberIn reports whether a text holds a card number.
func CardNumberIn(text string) bool {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		text = norm.NFKC.String(text)
	}
	if !enough(text) {
		return false
	}
	if uuid.MatchString(text) {
		text = uuid.ReplaceAllString(text, "x")
	}
	var w window
	gap, run := separators+1, -1 // run is the beginning of the run of digits that has the last rune
	for at, r := range text {
		d, is := digit(r)
		switch {
		case is && run < 0:
			if run = at; gap > separators {
				w.runs = w.runs[:0]
			}
			w.runs = append(w.runs, digits{plus: at > 0 && text[at-1] == '+'})
			fallthrough
		case is:
			w.add(d)
		case run >= 0 && w.ends(text, run, at):
			return true
		case run >= 0:
			gap, run = 0, -1
		}
		if gap++; !is && !separates(r) {
			gap = separators + 1
		}
	}
	return run >= 0 && w.ends(text, run, len(text))
}

// enough reports whether a text has as many digits as the shortest card number.
func enough(text string) bool {
	count := 0
	for _, r := range text {
		if _, is := digit(r); is {
			if count++; count == shortest {
				return true
			}
		}
	}
	return false
}

// digits is a run of digits. Its length also counts digits that are not kept.
type digits struct {
	kept   [longest]byte
	length int
	// plus is set after a plus sign.
	plus bool
}

// window is the last runs of digits, with no more than separators between them.
type window struct{ runs []digits }

// add adds a digit to the last run.
func (w *window) add(d byte) {
	last := &w.runs[len(w.runs)-1]
	if last.length < longest {
		last.kept[last.length] = d
	}
	last.length++
}

// ends reports whether a card number ends with the last run, which is at a place of a text. It drops runs that can't begin a
// number any more.
func (w *window) ends(text string, from, to int) bool {
	if w.runs[len(w.runs)-1].length > longest || inHex(text, from, to) {
		w.runs = w.runs[:0]
		return false
	}
	var number [longest]byte
	begin := longest
	for i, run := range slices.Backward(w.runs) {
		if begin -= run.length; begin < 0 {
			w.runs = slices.Delete(w.runs, 0, i+1)
			return false
		}
		copy(number[begin:], run.kept[:run.length])
		if n := number[begin:]; ofNetwork(n) && checked(n) && (!run.plus || len(n) > telephone) {
			return true
		}
	}
	return false
}

// digit returns a digit of any script as one of ASCII's. A range of unicode.Nd has whole tens, from 0 on.
func digit(r rune) (byte, bool) {
	if r <= unicode.MaxASCII {
		return byte(r), '0' <= r && r <= '9' //nolint:gosec // it is ASCII
	}
	if !unicode.IsDigit(r) {
		return 0, false
	}
	zero := r
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			zero = rune(in.Lo)
		}
	}
	for _, in := range unicode.Nd.R32 {
		if uint32(r) >= in.Lo && uint32(r) <= in.Hi {
			zero = rune(in.Lo) //nolint:gosec // a rune
		}
	}
	return "0123456789"[(r-zero)%10], true
}

// separates reports whether a rune may stand between the digits of a number: blanks, dashes, marks without a width, and the
// punctuation that people write there.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Pd, unicode.Zs, unicode.Cf) || strings.ContainsRune("._/\\|*\u00b7\u2022\u2212", r)
}

// ofNetwork reports whether digits begin as numbers of a network do, and are as many.
func ofNetwork(digits []byte) bool {
	if len(digits) < shortest {
		return false
	}
	begin := 0
	for _, d := range digits[:4] {
		begin = begin*10 + int(d-'0')
	}
	all := networks()
	return slices.ContainsFunc(all[:], func(n network) bool {
		return n.first <= begin && begin <= n.last && n.fewest <= len(digits) && len(digits) <= n.most
	})
}

// checked is Luhn's check.
func checked(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// inHex reports whether the text from start to end belongs to a long hexadecimal word that also has letters.
func inHex(text string, start, end int) bool {
	first, last := max(0, start-hexLook), min(len(text), end+hexLook)
	for start > first && isWord(text[start-1]) {
		start--
	}
	for end < last && isWord(text[end]) {
		end++
	}
	word := text[start:end]
	return len(word) >= hexID && strings.Trim(word, "0123456789") != "" && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

func isWord(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
