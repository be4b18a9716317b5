package e2e_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// columnsNaming lists the columns, as table.column, with a text in any row, bytes included.
func (r *rig) columnsNaming(t *testing.T, text string) (found []string) {
	t.Helper()
	const all = `SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1`
	for _, name := range column[string](t, r, all) {
		table, col, _ := strings.Cut(name, ".")
		rows := one[int](t, r, `SELECT count(*) FROM "`+table+`" x WHERE x."`+col+`"::text ILIKE '%' || $1::text || '%'
			OR x."`+col+`"::text LIKE '%' || encode(convert_to($1::text, 'UTF8'), 'hex') || '%'`, text)
		if rows > 0 {
			found = append(found, name)
		}
	}
	return found
}

// TestForgottenInEveryMember: a customer's name, mail and id are in every text member of every command. After an erasure with
// details the database has them only in the places that privacy.md lists.
func TestForgottenInEveryMember(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_DATABASE_URL=" + r.servingRole(t))
	ann := "ann" + strings.ReplaceAll(uuid.NewString(), "-", "")[:9]
	shop := s.shop(ann)
	// Names of objects, and reasons, get texts of their own, since some of them stay after an erasure.
	marks := strings.NewReplacer("ANN", ann, "ORDER", "order-of-"+ann[3:], "REF", "ref-of-"+ann[3:], "REASON", "reason-of-"+ann[3:])
	press := func(path, body string) answer {
		t.Helper()
		return shop.send(t.Context(), http.MethodPost, marks.Replace(path), marks.Replace(body), "Idempotency-Key: "+unique("key-of-"+ann[3:]))
	}
	const person = `"customer":{"reference":"ANN","email":"ANN@example.com","name":"ANN","phone":"+491701234567","ip":"203.0.113.9","locale":"de-DE",
		"billing_address":{"line1":"ANN","line2":"ANN","city":"ANN","postal_code":"ANN","state":"ANN","country":"DE"},
		"shipping_address":{"line1":"ANN","line2":"ANN","city":"ANN","postal_code":"ANN","state":"ANN","country":"DE"}}`
	const lines = `"lines":[{"description":"for ANN","quantity":"1","unit_amount":1999,"amount":1999,"sku":"ANN","type":"digital"}]`
	order := func(id string) string {
		return press("/v1/orders", `{"order_id":"`+id+`","amount":1999,"currency":"EUR","description":"for ANN","metadata":{"mail":"ANN@example.com","ANN":"x"},`+lines+`,`+person+`}`).
			order(t)["order_id"].(string) //nolint:forcetypeassert // the contract's
	}
	pay := func(order, token string) attempt {
		t.Helper()
		return press("/v1/orders/"+order+"/pay", `{"payment_method":{"token":"`+token+`","type":"ANN"},"return_url":"https://shop.example/ANN","statement_descriptor":"SHOP A1",`+
			lines+`,`+person+`,"browser":{"user_agent":"ANN","accept_header":"ANN","language":"de","color_depth":24,"screen_height":900,"screen_width":1440,"time_zone_offset":-60,"java_enabled":false}}`).
			attempt(t, http.StatusCreated)
	}
	paid := shop.settled(t, pay(order("ORDER-1"), "tok_save").ID)
	press("/v1/payment-attempts/"+paid.ID+"/refunds", `{"amount":500,"reason":"REASON"}`).is(t, http.StatusCreated)
	shop.settled(t, pay(order("ORDER-2"), "tok_decline").ID)
	redirected := pay(order("ORDER-3"), "tok_redirect")
	press("/v1/payment-attempts/"+redirected.ID+"/complete", `{"details":{"ANN":"ANN"}}`)
	press("/v1/payment-attempts/"+redirected.ID+"/cancel", "").is(t, http.StatusOK)
	shop.settled(t, redirected.ID)
	fourth := order("ORDER-4")
	external := press("/v1/orders/"+fourth+"/attempts", `{"account":"partner","provider_payment_id":"REF-1","references":["REF-2"]}`).attempt(t, http.StatusCreated)
	press("/v1/payment-attempts/"+external.ID+"/report", `{"references":["REF-3"],"outcome":"abandoned","reason":"REASON"}`)
	press("/v1/orders/"+fourth+"/cancel", "")
	press("/v1/orders/"+order("ORDER-5")+"/pay", `{"payment_method":{"token":"ANN"}}`)

	require.Greater(t, len(r.columnsNaming(t, ann)), 5)
	var code int
	var stderr string
	eventually(t, "an erasure of what is over", func() bool {
		code, _, stderr = r.erased(t, ann, "--details")
		return code == 0
	})
	require.Zero(t, code, stderr)
	require.Empty(t, r.columnsNaming(t, ann))
	privacy, err := os.ReadFile("../../../docs/reference/privacy.md")
	require.NoError(t, err)
	for mark, said := range map[string]string{"order-of-": "order ids", "key-of-": "idempotency keys", "ref-of-": "references", "reason-of-": "reasons"} {
		if len(r.columnsNaming(t, mark+ann[3:])) > 0 {
			_, stays, found := strings.Cut(string(privacy), "### What stays after an erasure")
			require.True(t, found, mark)
			require.Contains(t, stays, said, "what stays is named")
		}
	}
}
