package outbox

import (
	"strings"
	"unicode"
)

// keptAtMost is what is kept of a text that came from elsewhere, in bytes.
const keptAtMost = 512

// Printable bounds a text for what is kept and logged, without control characters.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > keptAtMost {
		text = strings.ToValidUTF8(text[:keptAtMost], "")
	}
	return text
}
