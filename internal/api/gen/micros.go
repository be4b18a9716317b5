package gen

import (
	"fmt"
	"time"
)

// Micros is a time as the contract writes it: RFC 3339 in UTC, always with six
// digits of a second, so that equal times are equal texts.
type Micros time.Time

const microsLayout = "2006-01-02T15:04:05.000000Z"

// MarshalJSON implements json.Marshaler.
func (m Micros) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(m).UTC().Format(`"` + microsLayout + `"`)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Micros) UnmarshalJSON(raw []byte) error {
	t, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(raw))
	if err != nil {
		return fmt.Errorf("read time: %w", err)
	}
	*m = Micros(t.UTC())
	return nil
}
