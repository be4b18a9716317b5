package journal

import (
	"fmt"
	"time"
)

// Month is a month of UTC.
type Month struct{ from time.Time }

// layout is how a month is written.
const layout = "2006-01"

// MonthError is returned for a text that is no month with a journal.
type MonthError struct{ Text, Why string }

// Error has the text and what to write instead.
func (e *MonthError) Error() string { return fmt.Sprintf("%q %s", e.Text, e.Why) }

// earliest is before every payment that a provider of today has.
const earliest = 1970

// ParseMonth reads a month as 2026-10. It returns a *MonthError for anything else, and for a month that has not begun.
func ParseMonth(text string, now time.Time) (Month, error) {
	from, err := time.Parse(layout, text)
	switch {
	case err != nil || from.Year() < earliest:
		return Month{}, &MonthError{text, "is not a month: write the year and the month, such as " + MonthOf(now).Previous().String()}
	case from.After(now):
		return Month{}, &MonthError{text, "has not begun: the latest is " + MonthOf(now).String()}
	}
	return Month{from}, nil
}

// MonthOf is the month of a time.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month{time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)}
}

// From returns the beginning of the month.
func (m Month) From() time.Time { return m.from }

// To returns the end of the month, which is not part of it.
func (m Month) To() time.Time { return m.from.AddDate(0, 1, 0) }

// Previous is the month before.
func (m Month) Previous() Month { return Month{m.from.AddDate(0, -1, 0)} }

// Next is the month after.
func (m Month) Next() Month { return Month{m.To()} }

// String is the month as it is parsed.
func (m Month) String() string { return m.from.Format(layout) }

// Days returns when each day of the month begins.
func (m Month) Days() (days []time.Time) {
	for day := m.from; day.Before(m.To()); day = day.AddDate(0, 0, 1) {
		days = append(days, day)
	}
	return days
}
