package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

// result is the page's result that the customer brings back.
func (r *env) result(t *testing.T, id, decision string) string {
	t.Helper()
	answer, err := r.client.PostForm(r.url+"/pay/"+id, url.Values{"decision": {decision}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	back, err := answer.Location()
	require.NoError(t, err)
	require.Equal(t, "shop.example", back.Host)
	require.Equal(t, "A-1", back.Query().Get("order"))
	return back.Query().Get("sandbox_result")
}

func challenged(token string) string {
	return strings.TrimSuffix(order("att-1", token), "}") + `,"return_url":"https://shop.example/back?order=A-1"}`
}

func (r *env) complete(t *testing.T, id, key, result string) answer {
	t.Helper()
	return r.post(t, "/v1/charges/"+id+"/complete", key, `{"result":"`+result+`"}`)
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, decision, end string
		charged              int64
	}{
		{"tok_3ds", "approve", "succeeded", 1999},
		{"tok_3ds", "decline", "failed", 0},
		{"tok_3ds_form", "approve", "succeeded", 1999},
		{"tok_3ds_form", "decline", "failed", 0},
	} {
		t.Run(c.token+" "+c.decision, func(t *testing.T) {
			t.Parallel()
			r := start(t, sandbox.Options{})
			made := r.pay(t, "key-1", challenged(c.token))
			require.Equal(t, "pending", made.Status)
			result := r.result(t, made.ID, c.decision)
			require.Equal(t, result, r.result(t, made.ID, c.decision), "the customer may decide again")
			require.Equal(t, "pending", r.lookup(t, made.ID).Status, "the shop's call decides")
			requireCharged(t, r, made.ID, 0)

			require.Equal(t, "invalid_result", r.complete(t, made.ID, "key-2", "res_made_up").failure(t).Code)
			require.Equal(t, "pending", r.lookup(t, made.ID).Status)
			for _, key := range []string{"key-3", "key-3", "key-4"} {
				require.Equal(t, c.end, r.complete(t, made.ID, key, result).charge(t).Status)
			}
			requireCharged(t, r, made.ID, c.charged)
		})
	}
}

func TestChallengeByTheScript(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	a := r.post(t, "/v1/charges", "key-1", challenged("tok_3ds_sdk"))
	made := parse[struct {
		ID         string
		NextAction struct {
			Type string
			Data struct {
				Secret string `json:"client_secret"`
			}
		} `json:"next_action"`
	}](t, a.body)
	require.Equal(t, "sdk", made.NextAction.Type)
	decided := func(secret, body string) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/dropin/charges/"+made.ID+"/challenge", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+secret)
		got, err := do(r.client, req)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, http.StatusUnauthorized, decided(made.ID+"_secret_x", `{"approve":true}`).status)
	result := parse[struct{ Result string }](t, decided(made.NextAction.Data.Secret, `{"approve":true}`).body).Result
	require.NotEqual(t, result, parse[struct{ Result string }](t, decided(made.NextAction.Data.Secret, `{"approve":false}`).body).Result)
	require.Equal(t, "succeeded", r.complete(t, made.ID, "key-2", result).charge(t).Status)
	requireCharged(t, r, made.ID, 1999)
}

func TestNothingToComplete(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	made := r.pay(t, "key-1", order("att-1", "tok_never"))
	require.Equal(t, "charge_not_completable", r.complete(t, made.ID, "key-2", "res_x").failure(t).Code)
	require.Equal(t, http.StatusNotFound, r.complete(t, "ch_none", "key-3", "res_x").status)
}

func TestChallengePageByForm(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	made := r.pay(t, "key-1", challenged("tok_3ds_form"))
	answer, err := r.client.PostForm(r.url+"/pay/challenge", url.Values{"charge": {made.ID}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	answer, err = r.client.PostForm(r.url+"/pay/challenge", url.Values{"charge": {"ch_none"}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}

// A voucher is shown, and paid on the hosted page.
func TestVoucher(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	made := r.pay(t, "key-1", challenged("tok_voucher"))
	require.Equal(t, "display", made.NextAction.Type)
	answer, err := r.client.PostForm(r.url+"/pay/"+made.ID, url.Values{"decision": {"approve"}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "succeeded", r.lookup(t, made.ID).Status)
	requireCharged(t, r, made.ID, 1999)
}

func TestWhatAChargeCarries(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	body := func(token, more string) string {
		return `{"reference":"att-1","amount":1999,"currency":"EUR","token":` + token + more + `}`
	}
	require.Equal(t, http.StatusUnprocessableEntity, r.post(t, "/v1/charges", "key-1", body(`"tok_billing"`, "")).status)
	require.Equal(t, http.StatusUnprocessableEntity, r.post(t, "/v1/charges", "key-2", body(`"tok_billing"`, `,"billing_address":null`)).status)
	require.Equal(t, "succeeded", r.pay(t, "key-3", body(`"tok_billing"`, `,"billing_address":{"country":"DE"}`)).Status)
	require.Equal(t, "failed", r.pay(t, "key-4", body(`"{\"type\":\"wallet\",\"token\":\"tok_decline\"}"`, "")).Status)
	saved := r.post(t, "/v1/charges", "key-5", body(`"tok_success"`, `,"customer":"c-7","save_payment_method":true`))
	token := parse[struct {
		Saved struct{ Token string } `json:"saved_payment_method"`
	}](t, saved.body).Saved.Token
	require.Equal(t, "succeeded", r.pay(t, "key-6", body(`"`+token+`"`, `,"customer":"c-7","initiator":"merchant"`)).Status)
	require.Equal(t, http.StatusForbidden, r.post(t, "/v1/charges", "key-7", body(`"`+token+`"`, `,"customer":"c-8"`)).status)
}
