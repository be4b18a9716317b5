package read

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// maxReason keeps a reason short: it may quote the delivery.
const maxReason = 200

// Event returns the result of reading an item: e if err is nil, otherwise an unreadable event with the fields of e that
// could be read. err is the reason. raw is the item as it was sent.
//
// If the provider's own id can't be read, the id is made of raw: an id derived from some fields of an unreadable item might
// be the id of another event.
func Event(raw []byte, e webhooks.Event, err error) webhooks.Event {
	if err == nil {
		return e
	}
	odd := webhooks.Event{
		ID: e.ID, IDSource: e.IDSource, Type: e.Type, Kind: webhooks.KindUnreadable, Unreadable: reason(err),
		OccurredAt: e.OccurredAt, Mode: e.Mode,
	}
	if odd.ID == "" || odd.IDSource != webhooks.Native {
		sum := sha256.Sum256(raw)
		odd.ID, odd.IDSource = "sha256:"+hex.EncodeToString(sum[:]), webhooks.Derived
	}
	return odd
}

func reason(err error) string {
	text := strings.ReplaceAll(err.Error(), webhooks.ErrPayload.Error()+": ", "")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "")
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// One is the only event of a delivery, see [Event].
func One(raw []byte, e webhooks.Event, err error) []webhooks.Event {
	return []webhooks.Event{Event(raw, e, err)}
}

// Unproven is the only event of a delivery that nothing proves: there an error refuses it.
func Unproven(e webhooks.Event, err error) ([]webhooks.Event, error) {
	if err != nil {
		return nil, err
	}
	return By(-1, []webhooks.Event{e}), nil
}

// By marks events as those of a delivery that the secret at index proves, and unreadable ones with their place.
func By(index int, events []webhooks.Event) []webhooks.Event {
	for i := range events {
		events[i].SecretIndex = index
		if events[i].Kind == webhooks.KindUnreadable {
			events[i].Place = i
		}
	}
	return events
}
