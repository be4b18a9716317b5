package payment

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// These types are a webhook between its verification and its effect: the event as it
// was received and as the inbox keeps it, and the report that it contains.

// The verdicts on events that never reach the machine. The others are fsm's.
const (
	// VerdictDuplicate events bear an id that was seen.
	VerdictDuplicate fsm.Verdict = "duplicate"
	// VerdictUnmatched events name no attempt that is recorded yet; they are parked.
	VerdictUnmatched fsm.Verdict = "unmatched"
	// VerdictDeferred events must be fetched, or could not be applied; they are parked.
	VerdictDeferred fsm.Verdict = "deferred"
	// VerdictUnreadable events are genuine and of a form that this version can't read; they are kept to be
	// read again.
	VerdictUnreadable fsm.Verdict = "unreadable"
	// VerdictForeign events name no attempt and bear no mark of ours: another system's payments at the
	// same account. They are not tried again.
	VerdictForeign fsm.Verdict = "foreign"
)

// ErrSealed is returned for an event whose bytes are needed and can't be decrypted with the configured keys.
var ErrSealed = fmt.Errorf("%w: the data key of its bytes is encrypted with a key that encryption_keys lacks", ErrEventUnreadable)

// ReceivedEvent is a verified event as it came in.
type ReceivedEvent struct {
	Account string
	Event   webhooks.Event
	Headers map[string]string
	Body    []byte
	At      time.Time

	news, headers []byte
}

// JSON returns the event and its headers as they are stored.
func (r *ReceivedEvent) JSON() (news, headers []byte, err error) {
	if r.news == nil {
		err = r.Encode()
	}
	return r.news, r.headers, err
}

// Encode is called before an event waits for the disk: the leader of a commit works for its whole
// batch.
func (r *ReceivedEvent) Encode() (err error) {
	if r.news, err = json.Marshal(r.Event); err != nil {
		return fmt.Errorf("encode event %s: %w", r.Event.ID, err)
	}
	if r.headers, err = json.Marshal(r.Headers); err != nil {
		return fmt.Errorf("encode headers of event %s: %w", r.Event.ID, err)
	}
	return nil
}

// ForgetMethod removes the stored payment method from the event, because its customer was erased.
func (r *ReceivedEvent) ForgetMethod() { r.Event.Method, r.news = nil, nil }

// StoredEvent is an event in the inbox.
type StoredEvent struct {
	ID EventID
	ReceivedEvent
	// Digest covers the event's content: kind, references, amount, currency.
	Digest    [32]byte
	Verdict   fsm.Verdict
	OrderID   OrderID
	AttemptID AttemptID
	// Tries counts the tries to apply a parked event. NextTryAt is when the next try is due; it may be nil.
	Tries     int
	NextTryAt *time.Time
	// Erased is set once the event is found to be about an erased customer, see Forgets. It is not stored.
	Erased bool
	// Unreadable is the error, an ErrEventUnreadable, if the stored event can't be read; else nil. Of the event itself only the
	// ID is set then.
	Unreadable error
}

// Forgets reports whether nothing but the event's meaning is kept, because its customer was erased. An event that waits keeps its
// bytes.
func (e *StoredEvent) Forgets() bool { return e.Erased && e.NextTryAt == nil }

// NewEventID returns an id of a cell that sorts by time.
func NewEventID(c Cell) EventID { return EventID(c.NewID()) }

// EventKey identifies an event.
type EventKey struct{ Account, ID string }

// Key is the event's.
func (r *ReceivedEvent) Key() EventKey { return EventKey{r.Account, r.Event.ID} }

// How a parked event is tried again: after 1 s, 2 s, 4 s … 1 h, when a discrepancy is opened, and
// hourly from then on for as long as a provider may still be late.
const (
	ParkFirst  = time.Second
	ParkLast   = time.Hour
	ParkReview = 12
	parkTries  = ParkReview + 30*24
	// ReviewAfter is how long the tries before the review take.
	ReviewAfter = ParkFirst<<ParkReview - ParkFirst
)

// Park keeps an event to be tried again.
func (e *StoredEvent) Park(verdict fsm.Verdict, now time.Time) {
	e.Verdict = verdict
	e.NextTryAt = nil
	if e.Tries < parkTries {
		at := now.Add(min(ParkFirst<<min(e.Tries, ParkReview), ParkLast))
		e.NextTryAt = &at
	}
}

// EventCountsBeside reports whether the content of an event counts beside a lookup of its payment. It counts for a delivery with an
// id of its own, and for an event of the provider's list that has an amount or a dispute.
func EventCountsBeside(e webhooks.Event) bool {
	return e.DeliveryID != "" || e.Listed && (e.Money != nil || e.Dispute != nil)
}

// Due makes an event due for a try now. A foreign event is parked again.
func (e *StoredEvent) Due(now time.Time) {
	if e.NextTryAt = &now; e.Verdict == VerdictForeign {
		e.Verdict = VerdictUnmatched
	}
}

// Marked reports whether an event has a mark of ours: a name of its payment has the form of our attempts'
// and refunds' ids.
func (e *StoredEvent) Marked(names []string) bool {
	return slices.ContainsFunc(append(slices.Clone(names), e.Event.RefundReference), func(name string) bool {
		_, ours := OwnAttemptID(name)
		return ours
	})
}

// Overdue reports whether the event is past its review, and has a discrepancy.
func (e *StoredEvent) Overdue() bool { return e.Tries > ParkReview }
