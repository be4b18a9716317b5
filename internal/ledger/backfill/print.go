package backfill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// String returns the events by what became of them, in a line: 3 events: 2 applied, 1 duplicate.
func (c Count) String() string {
	parts := make([]string, 0, len(c.Verdicts))
	for _, v := range slices.Sorted(maps.Keys(c.Verdicts)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.Verdicts[v], v))
	}
	events := "events"
	if c.Events == 1 {
		events = "event"
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d %s", c.Events, events)
	}
	return fmt.Sprintf("%d %s: %s", c.Events, events, strings.Join(parts, ", "))
}

// Reporter returns a Progress that passes a line to write once a second at most.
func Reporter(now func() time.Time, write func(line string)) func(Count) {
	began, printed := now(), now()
	return func(c Count) {
		at := now()
		if at.Sub(printed) < time.Second {
			return
		}
		printed = at
		write(fmt.Sprintf("%v; %.0f events/s", c, float64(c.Events)/at.Sub(began).Seconds()))
	}
}
