package sandbox

import (
	"net/http"
	"slices"
)

// movement is an entry of the ledger. Reference is always the charge's; the key
// is that of the call that moved the money, at once or later.
type movement struct {
	EntryID        string `json:"entry_id"`
	Kind           string `json:"kind"`
	ChargeID       string `json:"charge_id"`
	Reference      string `json:"reference"`
	IdempotencyKey string `json:"idempotency_key"`
	Amount         int64  `json:"amount"`
	Currency       string `json:"currency"`
	At             string `json:"at"`
}

func (t *tx) move(m movement) {
	m.EntryID, m.At = newID("le_"), stamp(t.now)
	t.entry.Movements = append(t.entry.Movements, m)
}

func (s *Server) showLedger(w http.ResponseWriter, _ *http.Request) {
	var all []movement
	// Entries are only ever appended, so the ones that exist can be read without the lock.
	s.store.view(func(st *state) { all = slices.Clip(st.ledger) })
	write(w, jsonReply(http.StatusOK, all))
}
