package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
)

// records returns the ledger's records. They are only ever appended, so existing records can be read
// without the lock.
func (s *Server) records() (all []Record) {
	s.store.view(func(st *state) { all = slices.Clip(st.ledger) })
	return all
}

func (s *Server) showBalance(w http.ResponseWriter, r *http.Request) {
	now := s.opts.Now()
	list(w, r, s.records(), func(m Record) string { return m.At }, func(m Record) Entry { return m.Entry(now) })
}

// listEvents shows every event that was made, delivered or not, as its webhook has it.
func (s *Server) listEvents(w http.ResponseWriter, r *http.Request) {
	var all []event
	s.store.view(func(st *state) { all = slices.Clip(st.listed) })
	list(w, r, all, event.created, func(e event) json.RawMessage { return json.RawMessage(e.Body) })
}

// created is the time that the event's body has.
func (e event) created() string { return cmp.Or(e.Created, Stamp(e.At)) }

// list writes a page. Entries that are appended while pages are read are on a later page.
func list[T, V any](w http.ResponseWriter, r *http.Request, all []T, stamp func(T) string, show func(T) V) {
	q, err := ParseQuery(r.URL.Query())
	if err != nil {
		write(w, errorReply(invalid(err.Error()+".")))
		return
	}
	write(w, jsonReply(http.StatusOK, PageOf(all, q, stamp, show)))
}
