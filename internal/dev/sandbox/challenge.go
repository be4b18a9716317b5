package sandbox

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// resultParameter is by which the customer comes back with the result.
const resultParameter = "sandbox_result"

// voucherLife is how long a voucher can be paid.
const voucherLife = 3 * 24 * time.Hour

// challenge has the customer pass a challenge, on the hosted page or in the script. A link or a form leads to the
// hosted page.
func (rec *chargeRecord) challenge(way, base string) {
	rec.Challenge = &challenge{"res_" + rand.Text(), "res_" + rand.Text()}
	rec.PageURL, rec.Choice = base+"/pay/"+rec.ID, choiceMade
	switch way {
	case actionPostForm:
		rec.NextAction = &nextAction{Type: way, URL: base + "/pay/challenge", Fields: map[string]string{"charge": rec.ID}}
	case actionSDK:
		rec.Secret = newSecret(rec.ID)
		rec.NextAction = &nextAction{Type: way, Data: map[string]string{"client_secret": rec.Secret}}
	default:
		rec.NextAction = &nextAction{Type: way, URL: rec.PageURL}
	}
}

// result is the challenge's, by the customer's decision.
func (c *challenge) result(do step) string {
	if do == stepApprove {
		return c.Approved
	}
	return c.Declined
}

// back is where the customer goes with the result: to the shop, or to the page, which shows it.
func (rec *chargeRecord) back(do step) string {
	to, err := url.Parse(rec.ReturnURL)
	if err != nil || rec.ReturnURL == "" {
		return rec.PageURL
	}
	query := to.Query()
	query.Set(resultParameter, rec.Challenge.result(do))
	to.RawQuery = query.Encode()
	return to.String()
}

// challengeResult is the script's result for the page.
type challengeResult struct {
	Result string `json:"result"`
}

// completeRequest has the challenge's result: alone, or inside the script's result or the parameters of the page's address.
type completeRequest struct {
	Result  string          `json:"result"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (in completeRequest) checked() (completeRequest, *apiError) {
	if in.Details == nil {
		return in, nil
	}
	var details struct {
		Result string `json:"result"`
		Page   string `json:"sandbox_result"`
	}
	if err := json.Unmarshal(in.Details, &details); err != nil {
		return in, invalid("details must be an object with a result.")
	}
	in.Result = cmp.Or(in.Result, details.Result, details.Page)
	return in, nil
}

// completeCharge is the second call of a charge with a challenge. A charge that is not pending any more
// is shown as it is.
func completeCharge(t *tx, c call, in completeRequest) result {
	rec, ok := t.charges[c.id]
	switch {
	case !ok:
		return result{err: notFound("charge")}
	case rec.Challenge == nil:
		return refuseCharge(rec, "charge_not_completable", "The charge has no second step.")
	case rec.Status != pending:
		return result{value: rec.charge}
	}
	rec.Key = c.key
	switch {
	case same(in.Result, rec.Challenge.Approved):
		t.perform(&rec, stepApprove)
	case same(in.Result, rec.Challenge.Declined):
		rec.end(failed)
		rec.FailureCode, rec.FailureMessage = new("authentication_failed"), new("The challenge was not passed.")
		t.emit(&rec, "charge.failed", rec.Amount)
	default:
		return refuse(http.StatusUnprocessableEntity, "invalid_result", "The result does not belong to this charge's challenge.")
	}
	t.putCharge(rec)
	return result{value: rec.charge}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

type challengeRequest struct {
	Approve bool `json:"approve"`
}

// challengeByScript returns the result to the script: the client secret is the credential.
func (s *Server) challengeByScript(w http.ResponseWriter, r *http.Request) {
	shareWithPages(w)
	var in challengeRequest
	if refused := decode(w, r, &in); refused != nil {
		write(w, errorReply(refused))
		return
	}
	var rec chargeRecord
	known := false
	s.store.view(func(st *state) { rec, known = st.bySecret(r) })
	if !known || rec.Challenge == nil {
		write(w, errorReply(unauthenticated()))
		return
	}
	do := stepDecline
	if in.Approve {
		do = stepApprove
	}
	write(w, jsonReply(http.StatusOK, challengeResult{rec.Challenge.result(do)}))
}

// voucher is shown to the customer. The customer pays it on the hosted page.
func voucher(rec *chargeRecord, now time.Time) *nextAction {
	return &nextAction{
		Type: actionDisplay, ExpiresAt: Stamp(now.Add(voucherLife)),
		Data: map[string]string{"reference": rec.ID[len(rec.ID)-10:], "instructions": "Pay this at any till of the sandbox.", "url": rec.PageURL},
	}
}
