package finder

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// usualLimit and mostItems are how many hits a page has.
	usualLimit = 25
	mostItems  = 100
)

// latest is after every time of a hit.
func latest() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// highest sorts behind every id.
const highest = "\U0010FFFF"

func (p Place) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", p.Rank, p.At.UnixMicro(), p.ID))
}

// parsePage reads the beginning of a page and its limit. It returns a payment.ValidationError.
func parsePage(q Query) (Place, int, error) {
	behind, limit := Place{Exact, latest(), highest}, usualLimit
	if q.Limit != "" {
		n, err := strconv.Atoi(q.Limit)
		if err != nil || n < 1 || n > mostItems || strconv.Itoa(n) != q.Limit {
			return behind, 0, invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(mostItems))
		}
		limit = n
	}
	if q.Cursor == "" {
		return behind, limit, nil
	}
	place, ok := parseCursor(q.Cursor)
	if !ok {
		return behind, 0, invalid("cursor", "must be the next_cursor of a response to the same call")
	}
	return place, limit, nil
}

func parseCursor(text string) (Place, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.SplitN(string(raw), " ", 3)
	if err != nil || len(parts) != 3 || !payment.IsStorable(parts[2]) {
		return Place{}, false
	}
	rank, err := strconv.Atoi(parts[0])
	micros, wrong := strconv.ParseInt(parts[1], 10, 64)
	p := Place{Rank(rank), time.UnixMicro(micros).UTC(), parts[2]}
	return p, err == nil && wrong == nil && (p.Rank == Exact || p.Rank == Alike) && p.At.Year() >= 1 && p.At.Year() <= latest().Year()
}
