package support

import (
	"fmt"
	"strconv"
	"time"
)

// clock formats a time that can be read to a customer.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// span formats a duration in words of its largest units.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 50*time.Millisecond:
		return "less than 0.1 s"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return strconv.Itoa(int(d.Hours()/24)) + " days"
}

// later returns the time since the attempt was created. The two clocks may differ a
// little.
func later(from time.Time, n int, at, until time.Time) string {
	if n == 1 || span(at.Sub(from)) == span(until.Sub(from)) {
		return span(at.Sub(from)) + " later"
	}
	return span(at.Sub(from)) + " to " + span(until.Sub(from)) + " later"
}

// repeated returns "again", or "again 3 times,".
func repeated(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + " " + strconv.Itoa(n) + " times,"
}

// sentence looks up a text, or returns the fallback.
func sentence(table map[string]string, key, otherwise string) string {
	if text, ok := table[key]; ok {
		return text
	}
	return otherwise
}

// plural returns the verb of one amount, or of two.
func plural(two bool) string {
	if two {
		return " were"
	}
	return " was"
}
