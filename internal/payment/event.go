package payment

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// The verdicts on events that never reach the machine. The others are fsm's.
const (
	// Duplicate events bear an id that was seen.
	Duplicate fsm.Verdict = "duplicate"
	// Unmatched events name no attempt that is known yet; they are parked.
	Unmatched fsm.Verdict = "unmatched"
	// Deferred events must be fetched, or could not be applied; they are parked.
	Deferred fsm.Verdict = "deferred"
	// Ignored events are not about a payment, or about one that only a stranger
	// speaks of: nobody signed them, and the provider does not know it.
	Ignored fsm.Verdict = "ignored"
)

// Received is a verified event as it came in.
type Received struct {
	Account string
	Event   webhooks.Event
	Headers map[string]string
	Body    []byte
	At      time.Time

	news, headers []byte
}

// JSON returns what the event says and its headers as they are stored.
func (r *Received) JSON() (news, headers []byte, err error) {
	if r.news == nil {
		err = r.encode()
	}
	return r.news, r.headers, err
}

// encode is done before an event waits for the disk: who commits works for all who
// wait with it.
func (r *Received) encode() (err error) {
	if r.news, err = json.Marshal(r.Event); err != nil {
		return fmt.Errorf("encode event %s: %w", r.Event.ID, err)
	}
	if r.headers, err = json.Marshal(r.Headers); err != nil {
		return fmt.Errorf("encode headers of event %s: %w", r.Event.ID, err)
	}
	return nil
}

// StoredEvent is an event in the inbox.
type StoredEvent struct {
	ID EventID
	Received
	// Digest covers what the event says: kind, references, amount, currency.
	Digest    [32]byte
	Verdict   fsm.Verdict
	OrderID   OrderID
	AttemptID AttemptID
	// Tries counts the tries to apply a parked event; NextTryAt says when the
	// next one is due, nil for an event that is settled.
	Tries     int
	NextTryAt *time.Time
	// Unreadable is why what was stored can't be read, an ErrEventUnreadable; nil if it
	// can. Of the event itself only the ID is known then.
	Unreadable error
}

// newEventID returns an id that sorts by time.
func newEventID() EventID { return EventID(uuid.Must(uuid.NewV7())) }
