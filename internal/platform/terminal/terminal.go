// Package terminal prints for a person at a terminal.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// JSON prints a value, indented.
func JSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// Visible escapes text for a terminal: characters that move the cursor or turn the
// direction of the text are shown as numbers.
func Visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u{%x}", r)
		}
	}
	return out.String()
}

const timeFormat = "2006-01-02 15:04:05.000"

// Time is a time of a table, in UTC.
func Time(t time.Time) string { return t.UTC().Format(timeFormat) }
