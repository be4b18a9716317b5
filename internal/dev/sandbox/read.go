package sandbox

import (
	"net/http"
)

func (s *Server) showCharge(w http.ResponseWriter, r *http.Request) {
	show(s, w, "charge", func(st *state) (shownCharge, bool) {
		rec, found := st.charges[r.PathValue("id")]
		return st.shown(rec), found
	})
}

// shown is a charge with its refunds and disputes, the oldest first.
func (st *state) shown(rec chargeRecord) shownCharge {
	c := shownCharge{rec.charge, []refund{}, []Dispute{}}
	for _, id := range st.refundsByCharge[rec.ID] {
		c.Refunds = append(c.Refunds, st.refunds[id])
	}
	for _, id := range st.disputesByCharge[rec.ID] {
		c.Disputes = append(c.Disputes, st.disputes[id])
	}
	return c
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
	listByReference(s, w, r, func(st *state, reference string) (found []shownCharge) {
		for _, id := range st.chargesByReference[reference] {
			found = append(found, st.shown(st.charges[id]))
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
	write(w, jsonReply(http.StatusOK, Movements(s.records())))
}
