package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// MethodName names a payment method that an account's provider has stored.
type MethodName struct{ Account, Token string }

// Erased is the name under which a method is recorded once its customer was erased. The migrations make it, too.
func (n MethodName) Erased() MethodName {
	sum := sha256.Sum256([]byte(n.Token))
	return MethodName{n.Account, ErasedPrefix + hex.EncodeToString(sum[:])}
}

// StoredMethod is a payment method that an account's provider has stored, as the provider's events have changed it. It is
// recorded once an attempt stores it, or with the first event about it.
type StoredMethod struct {
	Account string
	SavedMethod
	// UserID, OrderID and AttemptID are of the attempt that stored it; zero for a method that was stored elsewhere.
	UserID    UserID
	OrderID   OrderID
	AttemptID AttemptID
	// ChangedAt is the provider's clock of the last change of its details, RestoredAt of the event that made it chargeable
	// again; zero if there is none.
	ChangedAt, RestoredAt time.Time
	// Version rises with each change. 0 is a method that is not recorded yet.
	Version   int
	UpdatedAt time.Time
}

// Name is the method's.
func (m *StoredMethod) Name() MethodName { return MethodName{m.Account, m.Token} }

// Change applies an event about the method, by the provider's clock. A removal is final: no event revives the method, unless it
// says that the provider has restored it since.
func (m *StoredMethod) Change(e webhooks.Event, now time.Time) fsm.Verdict {
	at := e.OccurredAt
	if at.IsZero() {
		at = now
	}
	var verdict fsm.Verdict
	switch {
	case e.Kind == webhooks.KindMethodRemoved:
		verdict = m.remove(at)
	case e.Method.Restored:
		verdict = m.restore(at)
	default:
		verdict = m.update(e.Method, at)
	}
	if verdict == fsm.Applied {
		m.Version++
		m.UpdatedAt = now
	}
	return verdict
}

func (m *StoredMethod) remove(at time.Time) fsm.Verdict {
	switch {
	case m.RemovedAt != nil && !at.After(*m.RemovedAt):
		return fsm.Repeat
	case at.Before(m.RestoredAt):
		return fsm.Stale
	}
	m.RemovedAt = &at // the latest removal, so that no restoration before it counts
	return fsm.Applied
}

func (m *StoredMethod) restore(at time.Time) fsm.Verdict {
	switch {
	case !at.After(m.RestoredAt):
		return fsm.Repeat
	case m.RemovedAt != nil && at.Before(*m.RemovedAt):
		return fsm.Stale
	}
	m.RemovedAt, m.RestoredAt = nil, at
	return fsm.Applied
}

// update takes over the details. An event without details says only that they changed.
func (m *StoredMethod) update(to *webhooks.Method, at time.Time) fsm.Verdict {
	if m.RemovedAt != nil || at.Before(m.ChangedAt) {
		return fsm.Stale
	}
	now := m.SavedMethod
	now.describe(to.Type, to.Display, to.Expires)
	if now == m.SavedMethod && (to.Type != "" || to.Display != "" || to.Expires != "") {
		return fsm.Repeat
	}
	m.SavedMethod, m.ChangedAt = now, at
	return fsm.Applied
}

// describe takes over the details that are stated.
func (m *SavedMethod) describe(kind, display, expires string) {
	for to, text := range map[*string]string{&m.Type: kind, &m.Display: display, &m.Expires: expires} {
		if text != "" {
			*to = text
		}
	}
}

// StoredBy records the attempt that stored the method. It reports false if that is recorded already. The details of an event are
// not older than the attempt's.
func (m *StoredMethod) StoredBy(a Attempt, now time.Time) bool {
	if m.AttemptID != (AttemptID{}) {
		return false
	}
	m.SavedMethod = *a.Saved.Now(*m)
	m.UserID, m.OrderID, m.AttemptID, m.UpdatedAt = a.UserID, a.OrderID, a.ID, now
	m.Version++
	return true
}

// Now is the method of an attempt as events have changed it.
func (m *SavedMethod) Now(by StoredMethod) *SavedMethod {
	now := *m
	if !by.ChangedAt.IsZero() {
		now.describe(by.Type, by.Display, by.Expires)
	}
	now.RemovedAt = by.RemovedAt
	return &now
}
