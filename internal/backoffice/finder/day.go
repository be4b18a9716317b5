package finder

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Day is a calendar day. Its hours depend on the time zone of the person who names it.
type Day struct {
	// Date is its midnight in UTC.
	Date time.Time
}

const (
	// eastmost and westmost are the time zones of the earth that are furthest from UTC.
	eastmost = 14 * time.Hour
	westmost = 12 * time.Hour
	allDay   = 24 * time.Hour
)

// From and To are when the day begins and ends anywhere on earth; To is not included.
func (d Day) From() time.Time { return d.Date.Add(-eastmost) }

// To is the end of the day.
func (d Day) To() time.Time { return d.Date.Add(allDay + westmost) }

// String is the day in words.
func (d Day) String() string {
	return d.Date.Format("Monday, 2 January 2006") + " (UTC, and the hours that are this day in other time zones)"
}

const (
	monthNames   = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	weekdayNames = `mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?`
	leading      = `(?:^|[\s,(])(?:on |the )*`
	trailing     = `(?:[\s,.;)!?]|$)`
)

// The forms of a day; each stands between spaces.
var (
	isoDay    = regexp.MustCompile(leading + `([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})` + trailing)
	dottedDay = regexp.MustCompile(leading + `([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?((?:[0-9]{2}){0,2})` + trailing)
	dayMonth  = regexp.MustCompile(leading + `([0-9]{1,2})(?:st|nd|rd|th|\.)?\s(?:of\s)?(` + monthNames + `)\.?,?(?:\s([0-9]{4}))?` + trailing)
	monthDay  = regexp.MustCompile(leading + `(` + monthNames + `)\.?\s([0-9]{1,2})(?:st|nd|rd|th)?,?(?:\s([0-9]{4}))?` + trailing)
	relative  = regexp.MustCompile(leading + `(today|yesterday|day before yesterday)` + trailing)
	weekday   = regexp.MustCompile(leading + `(?:last |this |past )?(` + weekdayNames + `)` + trailing)
)

// shortMonth is the length of the shortest name of a month or a weekday.
const shortMonth = 3

// parseDay reads the day in a text in lower case, and returns the text without it. It does not accept a day after tomorrow.
func parseDay(text string, now time.Time) (*Day, string) {
	today := now.UTC().Truncate(allDay)
	for _, form := range []struct {
		re   *regexp.Regexp
		read func(m []string) time.Time
	}{
		{isoDay, func(m []string) time.Time { return dateOf(m[1], month(m[2]), m[3], today) }},
		{dottedDay, func(m []string) time.Time { return dateOf(century(m[3]), month(m[2]), m[1], today) }},
		{dayMonth, func(m []string) time.Time { return dateOf(m[3], named(m[2]), m[1], today) }},
		{monthDay, func(m []string) time.Time { return dateOf(m[3], named(m[1]), m[2], today) }},
		{relative, func(m []string) time.Time {
			return today.AddDate(0, 0, -map[string]int{"today": 0, "yesterday": 1, "day before yesterday": 2}[m[1]])
		}},
		{weekday, func(m []string) time.Time { return lastWeekday(m[1], today) }},
	} {
		at := form.re.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		if date := form.read(form.re.FindStringSubmatch(text)); !date.IsZero() && !date.After(today.Add(allDay)) {
			return &Day{date}, text[:at[0]] + " " + text[at[1]:]
		}
	}
	return nil, text
}

// dateOf returns a date, or the zero time if the calendar does not have it. Without a year it returns the last such date that
// has begun somewhere on earth.
func dateOf(year string, m time.Month, day string, today time.Time) time.Time {
	d, _ := strconv.Atoi(day)
	y, err := strconv.Atoi(year)
	if err != nil {
		y = today.Year() + 1
	}
	for range 9 { // up to the last leap day
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		if date.Month() == m && date.Day() == d && (err == nil || !date.After(today.Add(allDay))) {
			return date
		}
		if err == nil {
			break
		}
		y--
	}
	return time.Time{}
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

// lastWeekday is the last such day before today.
func lastWeekday(text string, today time.Time) time.Time {
	date := today.AddDate(0, 0, -1)
	for !strings.HasPrefix(strings.ToLower(date.Weekday().String()), text[:shortMonth]) {
		date = date.AddDate(0, 0, -1)
	}
	return date
}
