package support

import (
	"strconv"
	"time"
)

// Provider has facts about the provider of an account, for people.
type Provider struct {
	// RefundTime is how long a refund takes to reach the customer, and RefundSource is the address of the provider's page about it.
	// Both are empty if the provider documents no time.
	RefundTime, RefundSource string
	// Reasons are the provider's codes of disputes in words.
	Reasons map[string]string
}

// Reason returns the reason of a dispute in words, with the provider's code. A code that is not listed is shown alone.
func (p Provider) Reason(code string) string {
	switch words, listed := p.Reasons[code]; {
	case code == "":
		return ""
	case listed:
		return words + " (" + code + ")"
	}
	return "the provider's code " + code
}

// Clocks returns times as people read them.
type Clocks struct {
	// Zone is the shop's time zone.
	Zone *time.Location
}

// Location is the shop's time zone; UTC without one.
func (c Clocks) Location() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Day returns the day of a time.
func (c Clocks) Day(t time.Time) string { return t.In(c.Location()).Format("2 January 2006") }

// Minute returns a day and a time of it, with the time zone.
func (c Clocks) Minute(t time.Time) string {
	return t.In(c.Location()).Format("2 January 2006, 15:04 MST")
}

// Until returns how many days a time is away, such as "in 4 days" or "yesterday".
func (c Clocks) Until(t, now time.Time) string {
	switch days := c.midnight(t).Sub(c.midnight(now)) / (24 * time.Hour); {
	case days == 0 && t.Before(now):
		return "earlier today"
	case days == 0:
		return "today"
	case days == 1:
		return "tomorrow"
	case days == -1:
		return "yesterday"
	case days < 0:
		return strconv.Itoa(int(-days)) + " days ago"
	default:
		return "in " + strconv.Itoa(int(days)) + " days"
	}
}

// midnight is the date of a time, as a time in UTC, so that each day has 24 hours.
func (c Clocks) midnight(t time.Time) time.Time {
	y, m, d := t.In(c.Location()).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
