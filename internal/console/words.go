package console

import (
	"strconv"
	"time"
)

// Clock is a time as it stands in a list, in UTC.
func Clock(t time.Time) string { return t.UTC().Format(time.DateTime) }

// Machine is a time as a browser reads it.
func Machine(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Age is how long something waits, of the size that matters.
func Age(d time.Duration) string {
	switch hours := int(d.Hours()); {
	case d < time.Minute:
		return "less than a minute"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case hours < 48:
		return strconv.Itoa(hours) + " hours"
	default:
		return strconv.Itoa(hours/24) + " days"
	}
}
