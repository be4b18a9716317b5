package outbox

import (
	"strings"
	"unicode"
)

// keptAtMost is the longest stored text from an external source, in bytes.
const keptAtMost = 512

// Printable shortens a text for storage and logs, and removes control characters.
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
