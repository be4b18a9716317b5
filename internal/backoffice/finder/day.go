package finder

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Days are one or several calendar days in the shop's time zone.
type Days struct {
	// First and Last are the noons of the first and the last day. Each day has a noon, but not each day has a midnight.
	First, Last time.Time
}

// From and To are when the days begin and end; To is not included. A day of a clock change has 23 or 25 hours.
func (d Days) From() time.Time { return StartOfDay(d.First, 0) }

// To is the end of the last day.
func (d Days) To() time.Time { return StartOfDay(d.Last, 1) }

const noon = 12

// StartOfDay returns when the calendar day of a time begins in its zone, or a day some days later. Where a clock change skips
// midnight, the day begins an hour later.
func StartOfDay(t time.Time, later int) time.Time {
	y, m, d := t.Date()
	start := time.Date(y, m, d+later, 0, 0, 0, 0, t.Location())
	if start.Day() != time.Date(y, m, d+later, noon, 0, 0, 0, t.Location()).Day() {
		return time.Date(y, m, d+later, 1, 0, 0, 0, t.Location())
	}
	return start
}

const dayInWords = "Monday, 2 January 2006"

// String returns the days in words, with their time zone.
func (d Days) String() string {
	zone := " (" + d.First.Location().String() + ")"
	if d.First.Equal(d.Last) {
		return "on " + d.First.Format(dayInWords) + zone
	}
	return "from " + d.First.Format(dayInWords) + " to " + d.Last.Format(dayInWords) + zone
}

const (
	monthNames   = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	weekdayNames = `mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?`
	count        = `[0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|couple of`
	leading      = `(?:^|[\s,(])(?:on |in |the )*`
	trailing     = `(?:[\s,.;)!?]|$)`
)

// daysForm is a form of days in a text. It stands between spaces.
type daysForm struct {
	re *regexp.Regexp
	// read returns the days of a match. It returns the zero Days if the calendar does not have them.
	read func(m []string, today time.Time) Days
}

// daysForms are all forms. The first form that a text has counts.
var daysForms = []daysForm{ //nolint:gochecknoglobals // a table
	{form(`([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})`), func(m []string, today time.Time) Days { return dateOf(m[1], month(m[2]), m[3], today) }},
	{form(`([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?((?:[0-9]{2}){0,2})`), func(m []string, today time.Time) Days { return dateOf(century(m[3]), month(m[2]), m[1], today) }},
	{slashes, slashed},
	{form(`([0-9]{1,2})(?:st|nd|rd|th|\.)?\s(?:of\s)?(` + monthNames + `)\.?,?(?:\s([0-9]{4}))?`), func(m []string, today time.Time) Days { return dateOf(m[3], named(m[2]), m[1], today) }},
	{form(`(` + monthNames + `)\.?\s([0-9]{1,2})(?:st|nd|rd|th)?,?(?:\s([0-9]{4}))?`), func(m []string, today time.Time) Days { return dateOf(m[3], named(m[1]), m[2], today) }},
	{form(`(today|yesterday|day before yesterday)`), func(m []string, today time.Time) Days {
		return ago(map[string]int{"today": 0, "yesterday": 1, "day before yesterday": 2}[m[1]], today)
	}},
	{form(`(` + count + `)\s(day|week|month)s?\sago`), func(m []string, today time.Time) Days { return unitAgo(m[2], countOf(m[1]), today) }},
	{form(`(?:last|past|previous)\s(` + count + `)\s(day|week|month)s?`), func(m []string, today time.Time) Days { return lastUnits(m[2], countOf(m[1]), today) }},
	{form(`(` + weekdayNames + `)\s(?:of\s)?(?:the\s)?last\sweek`), func(m []string, today time.Time) Days {
		return dayOf(weekdayFrom(m[1], monday(today).AddDate(0, 0, -7)))
	}},
	{form(`(?:last|previous|past)\sweek\s(?:on\s)?(` + weekdayNames + `)`), func(m []string, today time.Time) Days {
		return dayOf(weekdayFrom(m[1], monday(today).AddDate(0, 0, -7)))
	}},
	{form(`(last|previous|past|this)\s(week|month)`), func(m []string, today time.Time) Days { return unitOf(m[2], m[1] == "this", today) }},
	{regexp.MustCompile(`(?:^|[\s,(])(?:on |in |at |over |during )?(?:last|past|this|the) weekend` + trailing), func(_ []string, today time.Time) Days {
		sunday := lastWeekday("sun", today)
		return Days{sunday.AddDate(0, 0, -1), sunday}
	}},
	{regexp.MustCompile(`(?:^|[\s,(])(?:on |in )?the ([0-9]{1,2})(?:st|nd|rd|th)` + trailing), func(m []string, today time.Time) Days { return lastOfMonth(m[1], today) }},
	{form(`(?:last |this |past )?(` + weekdayNames + `)`), func(m []string, today time.Time) Days { return dayOf(lastWeekday(m[1], today)) }},
}

// slashes matches a date with slashes.
var slashes = form(`([0-9]{1,2})/([0-9]{1,2})(?:/((?:[0-9]{2}){1,2}))?`) //nolint:gochecknoglobals // a constant

func form(pattern string) *regexp.Regexp { return regexp.MustCompile(leading + pattern + trailing) }

// shortMonth is the length of the shortest name of a month or a weekday.
const shortMonth = 3

// parseDays reads the days in a text in lower case, in the time zone of now. It returns the text without them. Days that have
// not begun are not accepted.
func parseDays(text string, now time.Time) (*Days, string) {
	y, m, d := now.Date()
	today := time.Date(y, m, d, noon, 0, 0, 0, now.Location())
	for _, f := range daysForms {
		at := f.re.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		if days := f.read(f.re.FindStringSubmatch(text), today); days != (Days{}) && !days.Last.After(today) {
			return &days, text[:at[0]] + " " + text[at[1]:]
		}
	}
	return nil, text
}

func dayOf(date time.Time) Days { return Days{date, date} }

func ago(days int, today time.Time) Days { return dayOf(today.AddDate(0, 0, -days)) }

// dateOf returns a date, or the zero Days if the calendar does not have it. Without a year it returns the last such date that
// has begun.
func dateOf(year string, m time.Month, day string, today time.Time) Days {
	d, _ := strconv.Atoi(day)
	y, err := strconv.Atoi(year)
	if err != nil {
		y = today.Year()
	}
	for range 9 { // up to the last leap day
		date := time.Date(y, m, d, noon, 0, 0, 0, today.Location())
		if date.Month() == m && date.Day() == d && (err == nil || !date.After(today)) {
			return dayOf(date)
		}
		if err == nil {
			break
		}
		y--
	}
	return Days{}
}

// slashed reads 11/24 as a month and a day, or else as a day and a month.
func slashed(m []string, today time.Time) Days {
	year := century(m[3])
	if days := dateOf(year, month(m[1]), m[2], today); days != (Days{}) && !days.Last.After(today) {
		return days
	}
	return dateOf(year, month(m[2]), m[1], today)
}

// otherReading returns a sentence about the other day that a date such as 3/4 may be; empty if there is no other.
func otherReading(text string, days Days) string {
	m := slashes.FindStringSubmatch(text)
	if m == nil || days.First.Month() != month(m[1]) || m[1] == m[2] {
		return ""
	}
	other := dateOf(strconv.Itoa(days.First.Year()), month(m[2]), m[1], days.First)
	if other == (Days{}) {
		return ""
	}
	return m[1] + "/" + m[2] + " is read as month/day, so type " + other.First.Format("2 January") + " if you mean that day"
}

// unitAgo returns a day so many days ago, the seven days around such a day for weeks, and a calendar month for months.
func unitAgo(unit string, n int, today time.Time) Days {
	switch unit {
	case "week":
		day := today.AddDate(0, 0, -7*n)
		return Days{day.AddDate(0, 0, -3), day.AddDate(0, 0, 3)}
	case "month":
		first := firstOfMonth(today).AddDate(0, -n, 0)
		return Days{first, first.AddDate(0, 1, -1)}
	}
	return ago(n, today)
}

// lastUnits returns the days from so many days, weeks or months ago up to today.
func lastUnits(unit string, n int, today time.Time) Days {
	switch unit {
	case "week":
		return Days{today.AddDate(0, 0, -7*n), today}
	case "month":
		return Days{today.AddDate(0, -n, 0), today}
	}
	return Days{today.AddDate(0, 0, -n), today}
}

// unitOf returns this calendar week or month up to today, or the one before. A week begins on Monday.
func unitOf(unit string, this bool, today time.Time) Days {
	first, before := monday(today), monday(today).AddDate(0, 0, -7)
	if unit == "month" {
		first, before = firstOfMonth(today), firstOfMonth(today).AddDate(0, -1, 0)
	}
	if this {
		return Days{first, today}
	}
	return Days{before, first.AddDate(0, 0, -1)}
}

func firstOfMonth(day time.Time) time.Time { return day.AddDate(0, 0, 1-day.Day()) }

func monday(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// lastOfMonth returns the last such day of a month up to today.
func lastOfMonth(text string, today time.Time) Days {
	for back := range 3 { // one of three months has 31 days
		first := firstOfMonth(today).AddDate(0, -back, 0)
		days := dateOf(strconv.Itoa(first.Year()), first.Month(), text, today)
		if days != (Days{}) && !days.Last.After(today) {
			return days
		}
	}
	return Days{}
}

func century(year string) string {
	if len(year) == len("26") {
		return "20" + year
	}
	return year
}

func month(text string) time.Month {
	n, _ := strconv.Atoi(text)
	return time.Month(n)
}

func named(text string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), text[:shortMonth]) {
			return m
		}
	}
	return 0
}

// countOf reads a count of a form.
func countOf(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	for i, word := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		if word == text {
			return i + 1
		}
	}
	if strings.Contains(text, "couple") {
		return 2
	}
	return 1
}

// lastWeekday is the last such day before today.
func lastWeekday(text string, today time.Time) time.Time {
	date := today.AddDate(0, 0, -1)
	for !isWeekday(date, text) {
		date = date.AddDate(0, 0, -1)
	}
	return date
}

// weekdayFrom is the first such day from a day on.
func weekdayFrom(text string, date time.Time) time.Time {
	for !isWeekday(date, text) {
		date = date.AddDate(0, 0, 1)
	}
	return date
}

func isWeekday(date time.Time, text string) bool {
	return strings.HasPrefix(strings.ToLower(date.Weekday().String()), text[:shortMonth])
}
