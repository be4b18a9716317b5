package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is an entry of the audit log, as the API lists it.
type listed struct {
	Actor   string         `json:"actor"`
	Action  string         `json:"action"`
	Target  string         `json:"target"`
	Outcome string         `json:"outcome"`
	Address string         `json:"address"`
	Request string         `json:"request_id"`
	Detail  map[string]any `json:"detail"`
}

// audited lists the entries of an action, newest first.
func (o *organisation) audited(t *testing.T, query string) []listed {
	t.Helper()
	a := o.as(token("ada", "admin")).send(t.Context(), http.MethodGet, "/v1/support/audit?limit=100&"+query, "")
	a.is(t, http.StatusOK)
	var page struct {
		Items []listed `json:"items"`
	}
	require.NoError(t, json.Unmarshal(a.text, &page))
	return page.Items
}

// Successful and refused sign-ins are recorded with their addresses, behind a trusted proxy.
//
//nolint:paralleltest,tparallel // one after the other: the audit log and the provider's queue of people are one
func TestSignInsAreWritten(t *testing.T) {
	t.Parallel()
	o := newOrganisationOn(t, newRig(t), "PAYLATCH_TRUSTED_PROXIES=[127.0.0.0/8]")
	unchanged := func(url.Values) {}
	const from = "X-Forwarded-For: "
	o.QueueUser(roles("admin"))
	p := o.browser(t)
	p.get(o.begun(p, "/support", unchanged).RequestURI(), from+"203.0.113.1", "X-Request-Id: in-1").is(t, http.StatusSeeOther)
	p.send(http.MethodPost, "/support/sign-out", "", from+"203.0.113.2").is(t, http.StatusSeeOther)
	p.get("/support").is(t, http.StatusSeeOther)

	in := o.audited(t, "action=sign_in")
	require.Equal(t, []listed{{Actor: "employee-7", Action: "sign_in", Outcome: "done", Address: "203.0.113.1", Request: "in-1", Detail: map[string]any{"by": "openid"}}}, in)
	var out []listed
	eventually(t, "the sign-out", func() bool {
		out = o.audited(t, "action=sign_out")
		return len(out) == 1
	})
	require.Equal(t, []string{"employee-7", "done", "203.0.113.2"}, []string{out[0].Actor, out[0].Outcome, out[0].Address})

	t.Run("refused sign-ins", func(t *testing.T) {
		o.QueueUser(roles("customer"))
		p := o.browser(t)
		p.get(o.begun(p, "/support", unchanged).RequestURI(), from+"203.0.113.3").is(t, http.StatusForbidden)
		o.browser(t).get("/support/sign-in/callback?state=guess&code=guess", from+"203.0.113.4").is(t, http.StatusUnauthorized)
		var refused []listed
		eventually(t, "both refusals", func() bool {
			refused = slices.DeleteFunc(o.audited(t, "action=sign_in"), func(e listed) bool { return e.Outcome != "refused" })
			return len(refused) == 2
		})
		slices.SortFunc(refused, func(a, b listed) int { return len(b.Actor) - len(a.Actor) })
		require.Equal(t, []string{"employee-7", "203.0.113.3"}, []string{refused[0].Actor, refused[0].Address})
		require.Contains(t, refused[0].Detail["refusal"], "neither support nor admin")
		require.Equal(t, []string{"", "203.0.113.4"}, []string{refused[1].Actor, refused[1].Address}, "nobody is proven")
		require.Contains(t, refused[1].Detail["refusal"], "did not start")
	})
	t.Run("refused tokens", func(t *testing.T) {
		const key = "not-a-token-of-ours"
		o.as(key).send(t.Context(), http.MethodGet, "/v1/support/audit", "", from+"203.0.113.5").is(t, http.StatusUnauthorized)
		o.as(token("eve", "customer")).send(t.Context(), http.MethodGet, "/v1/support/audit", "", from+"203.0.113.6").is(t, http.StatusForbidden)
		var refused, denied []listed
		eventually(t, "both refusals", func() bool {
			refused, denied = o.audited(t, "action=token.refused"), o.audited(t, "action=access.refused")
			return len(refused) == 1 && len(denied) == 1
		})
		require.Equal(t, []string{"", "GET /v1/support/audit", "203.0.113.5"}, []string{refused[0].Actor, refused[0].Target, refused[0].Address})
		require.Equal(t, []string{"eve", "GET /v1/support/audit", "203.0.113.6"}, []string{denied[0].Actor, denied[0].Target, denied[0].Address})
		require.NotContains(t, o.stderr.String(), key)
	})
	t.Run("a flood is sampled", func(t *testing.T) {
		for range 300 {
			o.as("forged").send(t.Context(), http.MethodPost, "/v1/orders", "{}", from+"2001:db8::1").is(t, http.StatusUnauthorized)
		}
		eventually(t, "some of them", func() bool { return len(o.audited(t, "target=POST%20/v1/orders")) > 0 })
		require.LessOrEqual(t, len(o.audited(t, "target=POST%20/v1/orders")), 5)
	})
	t.Run("a call of staff has the same address", func(t *testing.T) {
		o.as(token("sam", "support")).send(t.Context(), http.MethodGet, "/v1/support/search?q=A-1", "", from+"203.0.113.7").is(t, http.StatusOK)
		require.Equal(t, "203.0.113.7", o.audited(t, "actor=sam")[0].Address)
		o.bluntly(token("sam", "support")).send(t.Context(), http.MethodGet, "/v1/support/audit", "").is(t, http.StatusForbidden)
	})
	o.QueueUser(roles("admin"))
	reader := o.browser(t)
	reader.get(o.begun(reader, "/support", unchanged).RequestURI()).is(t, http.StatusSeeOther)
	for action, says := range map[string]string{
		"sign_in": "neither support nor admin", "sign_out": "employee-7", "token.refused": "unknown", "access.refused": "203.0.113.6",
	} {
		page := reader.get("/support/audit?action=" + action)
		page.is(t, http.StatusOK)
		require.Contains(t, page.page(), says)
	}
}
