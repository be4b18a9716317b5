package console

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// few is the change of a rate, in percentage points, below which it counts as unchanged.
const few = 0.5

// todayNumber is a count with its digits in groups of three.
func todayNumber(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted is a number of things.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return todayNumber(n) + " " + many
}

// percent is a rate in words.
func percent(s overview.Share) string {
	rate, ok := s.Rate()
	if !ok {
		return "–"
	}
	return strconv.FormatFloat(math.Floor(rate*1000)/10, 'f', 1, 64) + " %"
}

// change returns how the rate of the day compares with the week before, in words and with an arrow.
func change(a overview.Approval) string {
	points, ok := a.Change()
	size := strconv.FormatFloat(math.Abs(points), 'f', 1, 64) + " points "
	switch {
	case !ok:
		return "too few to compare"
	case points >= few:
		return "▲ " + size + "above"
	case points <= -few:
		return "▼ " + size + "below"
	}
	return "as before"
}

// compared returns the change with the rate of the week before.
func compared(a overview.Approval) string {
	if _, ok := a.Change(); !ok {
		return change(a)
	}
	return change(a) + "; " + percent(a.Before) + " in the week before"
}

// todayKind is a name of the contract in words.
func todayKind(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
}

// sums returns amounts by currency, in words.
func sums(list []payment.Money) string {
	if len(list) == 0 {
		return "–"
	}
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = amount.Of(m)
	}
	return strings.Join(texts, ", ")
}

// open counts all cases.
func open(list []overview.Cases) (n int64) {
	for _, c := range list {
		n += c.Count
	}
	return n
}

func inOrder(by map[payment.Currency]int64) []payment.Money {
	list := make([]payment.Money, 0, len(by))
	for _, c := range slices.Sorted(maps.Keys(by)) {
		list = append(list, payment.Money{Minor: by[c], Currency: c})
	}
	return list
}

// picture describes the bars in words, for screen readers.
func (v todayView) picture() string {
	total := v.total()
	return "Bars by hour: " + counted(total.Succeeded, "payment", "payments") + " succeeded and " + todayNumber(total.Failed) +
		" failed in the last 24 hours. The table of hours has the numbers."
}

// standing describes the unusual conditions of an account.
func standing(s overview.Standing) string {
	var texts []string
	switch s.Breaker {
	case overview.Open:
		texts = append(texts, "The provider fails, so paylatch throttles calls to it. New payments fail as not started.")
	case overview.HalfOpen:
		texts = append(texts, "The provider failed; the next call shows whether it works again.")
	case overview.Closed:
	}
	if s.Held {
		texts = append(texts, "Payments and refunds wait for a reconciliation, because the database was restored.")
	}
	return strings.Join(texts, " ")
}

// todayDelivery is how far an endpoint is.
func todayDelivery(e overview.Endpoint) string {
	switch {
	case e.Gone:
		return "The endpoint answered 410 (Gone), so paylatch sends it no events."
	case e.Dead > 0:
		return counted(e.Dead, "event was", "events were") + " given up. The shop does not have these events; redeliver them."
	case e.Oldest > 0:
		return "The oldest undelivered event is " + Age(e.Oldest) + " old."
	}
	return "All events are delivered."
}

// dead counts the events that endpoints never got.
func (v todayView) dead() (n int64) {
	for _, e := range v.Endpoints {
		n += e.Dead
	}
	return n
}

// todayStale returns how many payments wait for a webhook of an account, and the age of its last webhook.
func todayStale(s intake.StaleAccount, now time.Time) string {
	text := counted(int64(s.Pending), "payment waits", "payments wait") + " for a webhook, the first for " + Age(now.Sub(s.Since)) + "; "
	if s.LastWebhookAt == nil {
		return text + "no webhook has ever arrived."
	}
	return text + "the last webhook arrived " + Age(now.Sub(*s.LastWebhookAt)) + " ago."
}

func hour(t time.Time) string       { return t.UTC().Format("15:04") }
func todayClock(t time.Time) string { return t.UTC().Format("15:04:05") }

// band is an age of unknown outcomes, as the head of a column.
func band(b overview.Band) string {
	switch b {
	case overview.UnderMinute:
		return "under 1 min"
	case overview.UnderTenMinutes:
		return "to 10 min"
	case overview.UnderHour:
		return "to 1 hour"
	case overview.UnderDay:
		return "to 1 day"
	case overview.Older:
	}
	return "older"
}
