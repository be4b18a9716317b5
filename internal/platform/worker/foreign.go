package worker

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"
)

const (
	foreignEvery = time.Minute
	// summaryEvery is how often the foreign events are summed up.
	summaryEvery = 24 * time.Hour
)

// ForeignEvents counts foreign events.
type ForeignEvents interface {
	// ForeignLastDay counts the foreign events of the last day by account.
	ForeignLastDay(ctx context.Context) (map[string]int64, error)
}

// Foreign logs once a day how many events each account has had of payments that are not ours.
func Foreign(from ForeignEvents, now func() time.Time, log zerolog.Logger) Loop {
	var next time.Time
	return Loop{Name: "foreign", Every: foreignEvery, Do: func(ctx context.Context) (bool, error) {
		if now().Before(next) {
			return false, nil
		}
		counts, err := from.ForeignLastDay(ctx)
		if err != nil {
			return false, err
		}
		next = now().Add(summaryEvery)
		for _, account := range slices.Sorted(maps.Keys(counts)) {
			log.Info().Str("account", account).Int64("events", counts[account]).Msg("foreign events of the last day")
		}
		return false, nil
	}}
}
