package lists

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// cursor returns the beginning of the next page, with a digest of the filter: with another filter it would pass over items.
func (q Query) cursor(p Place) string {
	return base64.RawURLEncoding.EncodeToString([]byte(q.digest() + " " + strconv.FormatInt(p.At.UnixMicro(), 10) + " " + p.ID))
}

func (q Query) parseCursor(text string) (Place, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.SplitN(string(raw), " ", 3)
	if err != nil || len(parts) != 3 || parts[0] != q.digest() || !payment.IsStorable(parts[2]) {
		return Place{}, false
	}
	micros, err := strconv.ParseInt(parts[1], 10, 64)
	p := Place{time.UnixMicro(micros).UTC(), parts[2]}
	if q.Kind != Orders && uuid.Validate(p.ID) != nil {
		return Place{}, false
	}
	return p, err == nil && p.At.Year() >= 1 && p.At.Before(latest().AddDate(0, 0, 1))
}

// digest is the same for queries that select the same items in the same order.
func (q Query) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %+v", q.Kind, q.Filter))
	return hex.EncodeToString(sum[:6])
}
