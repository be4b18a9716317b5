package strip

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Sizes in units of the picture, which are pixels where it is not scaled.
const (
	left    = 72 // where the lanes begin, behind their names
	pad     = 8  // between two labels
	inset   = 4  // between a call's begin and its label
	letter  = 6.7
	wide    = 12.0
	breakAt = time.Minute
)

// width returns how wide a label is at most.
func width(text string) int {
	w := 0.0
	for _, r := range text {
		if r > 0x2fff {
			w += wide
		} else {
			w += letter
		}
	}
	return int(math.Ceil(w))
}

// gap returns the distance between two moments: by the logarithm of the milliseconds between them.
func gap(d time.Duration) int {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 1 {
		return 0
	}
	return 10 + int(14*math.Log10(ms))
}

// length writes a duration by its largest unit.
func length(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " days"
}

// clock writes a time in UTC, with the day where it is another one than before.
func clock(t, before time.Time) string {
	t, before = t.UTC(), before.UTC()
	if t.YearDay() == before.YearDay() && t.Year() == before.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04:05")
}
