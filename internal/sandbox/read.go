package sandbox

import (
	"net/http"
	"slices"
)

func (s *Server) showCharge(w http.ResponseWriter, r *http.Request) {
	show(s, w, "charge", func(st *state) (charge, bool) {
		rec, found := st.charges[r.PathValue("id")]
		return rec.charge, found
	})
}

func (s *Server) showRefund(w http.ResponseWriter, r *http.Request) {
	show(s, w, "refund", func(st *state) (refund, bool) {
		re, found := st.refunds[r.PathValue("id")]
		return re, found
	})
}

func (s *Server) showMethod(w http.ResponseWriter, r *http.Request) {
	show(s, w, "payment method", func(st *state) (methodRecord, bool) {
		m, found := st.methods[r.PathValue("id")]
		return m, found
	})
}

// show writes one object, or a 404 with its name.
func show[T any](s *Server, w http.ResponseWriter, name string, find func(*state) (T, bool)) {
	var one T
	found := false
	s.store.view(func(st *state) { one, found = find(st) })
	if !found {
		write(w, errorReply(notFound(name)))
		return
	}
	write(w, jsonReply(http.StatusOK, one))
}

func (s *Server) listCharges(w http.ResponseWriter, r *http.Request) {
	listByReference(s, w, r, func(st *state, reference string) (found []charge) {
		for _, id := range st.chargesByReference[reference] {
			found = append(found, st.charges[id].charge)
		}
		return found
	})
}

func (s *Server) listRefunds(w http.ResponseWriter, r *http.Request) {
	listByReference(s, w, r, func(st *state, reference string) (found []refund) {
		for _, id := range st.refundsByReference[reference] {
			found = append(found, st.refunds[id])
		}
		return found
	})
}

func listByReference[T any](s *Server, w http.ResponseWriter, r *http.Request, find func(*state, string) []T) {
	reference := r.URL.Query().Get("reference")
	if reference == "" {
		write(w, errorReply(invalid("reference must be given.")))
		return
	}
	items := []T{}
	s.store.view(func(st *state) { items = append(items, find(st, reference)...) })
	write(w, jsonReply(http.StatusOK, map[string][]T{"items": items}))
}

func (s *Server) showLedger(w http.ResponseWriter, _ *http.Request) {
	var all []movement
	// Entries are only ever appended, so the ones that exist can be read without the lock.
	s.store.view(func(st *state) { all = slices.Clip(st.ledger) })
	write(w, jsonReply(http.StatusOK, all))
}
