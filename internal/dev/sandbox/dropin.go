package sandbox

import (
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"net/http"
	"strings"
)

//go:embed dropin.js
var dropinScript string

// secretMark is between the id of a charge and the rest of its client secret, so that the
// script needs nothing but the secret.
const secretMark = "_secret_"

func newSecret(id string) string { return id + secretMark + rand.Text() }

// dropinCharge is a charge in responses to the drop-in, with the fields that the customer may see.
type dropinCharge struct {
	ID             string      `json:"id"`
	Status         status      `json:"status"`
	Confirmed      bool        `json:"confirmed"`
	Amount         int64       `json:"amount"`
	Currency       string      `json:"currency"`
	FailureMessage *string     `json:"failure_message"`
	NextAction     *nextAction `json:"next_action"`
}

func dropinChargeOf(rec chargeRecord) dropinCharge {
	return dropinCharge{
		rec.ID, rec.Status, rec.Choice == choiceMade, rec.Amount, rec.Currency, rec.FailureMessage, rec.NextAction,
	}
}

type confirmRequest struct {
	Token     string `json:"token"`
	ReturnURL string `json:"return_url"`
}

func (in confirmRequest) checked() (confirmRequest, *apiError) {
	if in.ReturnURL != "" && !isAddress(in.ReturnURL) {
		return in, invalid("return_url must be an absolute http or https address, or an app's.")
	}
	return in, nil
}

func showDropin(w http.ResponseWriter, _ *http.Request) {
	shareWithPages(w)
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write([]byte(dropinScript))
}

// shareWithPages lets pages of any origin use the response. No cookie is ever read: the
// client secret is the credential.
func shareWithPages(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
}

func preflight(w http.ResponseWriter, _ *http.Request) {
	shareWithPages(w)
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) readByDropin(w http.ResponseWriter, r *http.Request) {
	shareWithPages(w)
	var rec chargeRecord
	known := false
	s.store.view(func(st *state) { rec, known = st.bySecret(r) })
	if !known {
		write(w, errorReply(unauthenticated()))
		return
	}
	write(w, jsonReply(http.StatusOK, dropinChargeOf(rec)))
}

// confirm pays a charge with the token that the customer chose, once. Another call, with
// any token, shows the charge as it is and changes nothing. So confirm needs no
// Idempotency-Key.
func (s *Server) confirm(w http.ResponseWriter, r *http.Request) {
	shareWithPages(w)
	var in confirmRequest
	refused := decode(w, r, &in)
	if refused == nil {
		in, refused = in.checked()
	}
	if refused != nil {
		write(w, errorReply(refused))
		return
	}
	var res result
	err := s.store.update(func(t *tx) {
		t.lag = s.opts.Delays.Webhook
		rec, known := t.bySecret(r)
		if !known {
			res = result{err: unauthenticated()}.replied(http.StatusUnauthorized)
			return
		}
		res = t.confirm(rec, call{base: s.base(r)}, in, s.tokens).replied(http.StatusOK)
	})
	if err != nil {
		s.opts.Log(err)
		write(w, errorReply(internalError()))
		return
	}
	s.respond(w, r, res)
}

func (t *tx) confirm(rec chargeRecord, c call, in confirmRequest, tokens map[string]behaviour) result {
	if rec.Status != pending || rec.Choice == choiceMade {
		return result{value: dropinChargeOf(rec)}
	}
	b, known := tokens[in.Token]
	if !known || b.place == inDropin || b.save {
		return result{err: invalidToken()}
	}
	if b.uncharged && rec.Choice == choiceOpen {
		rec.Choice = choiceFaulted
		t.putCharge(rec)
		return result{fault: b.fault}
	}
	rec.Choice, rec.ReturnURL = choiceMade, in.ReturnURL
	res := t.behave(&rec, c, b)
	res.value = dropinChargeOf(rec)
	return res
}

// bySecret returns the charge with the request's client secret.
func (st *state) bySecret(r *http.Request) (chargeRecord, bool) {
	rec := st.charges[r.PathValue("id")]
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return rec, rec.Secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(rec.Secret)) == 1
}
