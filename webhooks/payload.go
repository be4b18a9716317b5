package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// integer is a JSON number in plain digits. 1999.0, 1.999e3 and "1999" are
// refused: an amount is never guessed at.
type integer int64

var errNotWhole = errors.New("not a whole number")

// UnmarshalJSON implements json.Unmarshaler.
func (i *integer) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return errNotWhole
	}
	*i = integer(n)
	return nil
}

// decode reads raw into v; an error wraps ErrPayload and names what was read.
func decode(what string, raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPayload, what, err)
	}
	return nil
}

// members returns the members of a JSON object, nil if raw is something else.
func members(raw []byte) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// jsonText returns the text of a JSON string, "" if raw is something else.
func jsonText(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// maxUnix is the end of the year 9999, after which RFC 3339 has no text.
const maxUnix = 253402300799

// jsonTime reads a time as RFC 3339 text or as seconds since 1970; anything
// else is the zero time, because no news is refused for want of its date.
func jsonTime(raw []byte) time.Time {
	if seconds, err := strconv.ParseInt(string(raw), 10, 64); err == nil && seconds > 0 && seconds <= maxUnix {
		return time.Unix(seconds, 0).UTC()
	}
	return textTime(time.RFC3339, jsonText(raw))
}

// textTime reads a time in some layout. One that has no text in UTC, because its
// zone takes it out of the years 1 to 9999, is the zero time as well.
func textTime(layout, text string) time.Time {
	t, err := time.Parse(layout, text)
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Unix() > maxUnix {
		return time.Time{}
	}
	return t
}

// references returns the names that are not empty, each once, in their order.
func references(names ...string) []string {
	var list []string
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// maxDerivedID keeps an id well inside what an index can hold.
const maxDerivedID = 160

// derivedID makes an event's id from the fields that identify the news, in the
// order given: the same fields make the same id, others make another. It stays
// readable, so that a person can find the event by the provider's own id.
func derivedID(fields ...string) string {
	escaped := make([]string, len(fields))
	for i, field := range fields {
		escaped[i] = url.QueryEscape(field)
	}
	id := strings.Join(escaped, ":")
	if len(id) <= maxDerivedID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// textMembers returns those members of a JSON object that are text: what a
// merchant wrote beside a payment. An object that was put into a text is read as
// well; anything else (providers write [] for no notes) has none.
func textMembers(raw []byte) map[string]string {
	if text := jsonText(raw); text != "" {
		raw = []byte(text)
	}
	texts := map[string]string{}
	for name, value := range members(raw) {
		if text := jsonText(value); text != "" {
			texts[name] = text
		}
	}
	return texts
}

// noticeOf is an event that names an object and nothing else.
func noticeOf(d Delivery, id string) Event {
	return Event{
		ID: noticeID(d, id), IDSource: Derived, Kind: KindNotice, NeedsFetch: true,
		References: []string{id}, ProviderPaymentID: id,
	}
}

// noticeID makes the id of news that the body does not identify: one for each
// arrival, because the same words may tell of another state each time.
func noticeID(d Delivery, fields ...string) string {
	return derivedID(append(fields, d.ReceivedAt.UTC().Format(time.RFC3339Nano))...)
}

// withMember returns a JSON object with one of its members replaced.
func withMember(object map[string]json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if object == nil {
		object = map[string]json.RawMessage{}
	}
	object[name] = value
	return jsonOf(object)
}

// jsonOf returns the JSON of what was made of valid JSON, which can't fail.
func jsonOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
