// Package read has the shared code of the providers' readers: JSON, forms, times, money and ids.
package read

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// MaxEvents is how many events a delivery may have. GoCardless sends the most, up to 250.
const MaxEvents = 1000

// JSON reads raw into v. An error wraps ErrPayload and contains the name in what. An absent or null value is an error: it
// has no meaning.
func JSON(what string, raw []byte, v any) error {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return fmt.Errorf("%w: no %s", webhooks.ErrPayload, what)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %s: %w", webhooks.ErrPayload, what, err)
	}
	return nil
}

// Members returns the members of a JSON object, nil if raw is something else.
func Members(raw []byte) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// Text returns the text of a JSON string, "" if raw is something else.
func Text(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// maxUnix is the end of the year 9999, after which RFC 3339 has no text.
const maxUnix = 253402300799

// Time reads a time as RFC 3339 text or as seconds since 1970; anything else is the zero time, because no event is
// refused for want of its date.
func Time(raw []byte) time.Time {
	if seconds, err := strconv.ParseInt(string(raw), 10, 64); err == nil && seconds > 0 && seconds <= maxUnix {
		return time.Unix(seconds, 0).UTC()
	}
	return TimeIn(time.RFC3339, Text(raw))
}

// TimeIn reads a time in some layout. One that has no text in UTC, because its zone takes it out of the years 1 to
// 9999, is the zero time as well.
func TimeIn(layout, text string) time.Time {
	t, err := time.Parse(layout, text)
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Unix() > maxUnix {
		return time.Time{}
	}
	return t
}

// References returns the names that are not empty, each once, in their order.
func References(names ...string) []string {
	var list []string
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// maxDerivedID keeps an id well below the size limit of an index entry.
const maxDerivedID = 160

// DerivedID makes an event's id from the fields that identify the event, in the order given: the same fields make the
// same id, others make another. It stays readable, so that a person can find the event by the provider's own id.
func DerivedID(fields ...string) string {
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

// TextMembers returns the text members of a JSON object, such as the merchant's notes on a payment. An object inside a JSON
// string is read as well. Any other value (providers write [] for no notes) has no members.
func TextMembers(raw []byte) map[string]string {
	if text := Text(raw); text != "" {
		raw = []byte(text)
	}
	texts := map[string]string{}
	for name, value := range Members(raw) {
		if text := Text(value); text != "" {
			texts[name] = text
		}
	}
	return texts
}

// Notice is an event that names an object and nothing else.
func Notice(d webhooks.Delivery, id string) webhooks.Event {
	return webhooks.Event{
		ID: NoticeID(d, id), IDSource: webhooks.Derived, Kind: webhooks.KindNotice, NeedsFetch: true,
		References: []string{id}, ProviderPaymentID: id,
	}
}

// NoticeID makes the id of an event that the body does not identify: one for each arrival, because the same words may stand
// for another state each time.
func NoticeID(d webhooks.Delivery, fields ...string) string {
	return DerivedID(append(fields, d.ReceivedAt.UTC().Format(time.RFC3339Nano))...)
}

// WithMember returns a JSON object with one of its members replaced.
func WithMember(object map[string]json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if object == nil {
		object = map[string]json.RawMessage{}
	}
	object[name] = value
	return Encode(object)
}

// Encode returns the JSON of a value that was read from valid JSON. That can't fail.
func Encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
