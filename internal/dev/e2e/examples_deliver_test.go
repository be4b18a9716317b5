package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/inbox"
)

// change is an event of the API, before it is signed.
type change struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	CreatedAt time.Time      `json:"created_at"`
	Subject   string         `json:"subject"`
	Version   int            `json:"version"`
	Data      map[string]any `json:"data"`
}

func newChange(kind, subject string, version int, data map[string]any) change {
	return change{ID: uuid.NewString(), Type: kind, CreatedAt: time.Now().UTC(), Subject: subject, Version: version, Data: data}
}

// paidBy is an order over 19.99 that an attempt has paid, cancelled a cancelled order, and refundOf a refund of an attempt.
func paidBy(order, attempt string) change {
	return newChange("order.paid", order, 2, map[string]any{"order_id": order, "amount": 1999, "status": "paid", "payment_attempt_id": attempt})
}

func cancelled(order string) change {
	return newChange("order.cancelled", order, 1, map[string]any{"order_id": order, "amount": 1999, "status": "cancelled", "payment_attempt_id": nil})
}

func refundOf(order, attempt string, amount int) change {
	id := uuid.NewString()
	return newChange("refund.succeeded", id, 2, map[string]any{
		"refund_id": id, "order_id": order, "payment_attempt_id": attempt, "amount": amount, "status": "succeeded",
	})
}

// body is the event as it is sent.
func (c change) body(t *testing.T) []byte {
	t.Helper()
	body, err := json.Marshal(c)
	require.NoError(t, err)
	return body
}

// deliver posts an event to the shop as an endpoint gets it.
func (s *shop) deliver(t *testing.T, c change) answer {
	t.Helper()
	return s.post(t, c.ID, strings.Fields(shopSecrets)[0], time.Now(), c.body(t))
}

// post posts a body to the shop, signed by a secret.
func (s *shop) post(t *testing.T, id, secret string, at time.Time, body []byte) answer {
	t.Helper()
	return s.postSigned(t, id, at, signedBy(t, secret, id, at, body), body)
}

// signedBy is the signature of a body by a secret.
func signedBy(t *testing.T, secret, id string, at time.Time, body []byte) string {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	signature, err := signer.Sign(id, at, body)
	require.NoError(t, err)
	return signature
}

func (s *shop) postSigned(t *testing.T, id string, at time.Time, signature string, body []byte) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+"/events", bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return exchange(r)
}

// takesDeliveries starts a shop.
func takesDeliveries(t *testing.T, p program) *shop {
	t.Helper()
	s := newShop(t, p)
	s.launch(t)
	s.listens(t)
	return s
}

// takesEventsInAnyOrder delivers the possible events of an order in each possible order, all of them twice.
func takesEventsInAnyOrder(t *testing.T, p program) {
	t.Helper()
	s := takesDeliveries(t, p)
	for name, tt := range map[string]struct {
		// first and second are the amounts of refunds, and their attempts.
		first, second int
		of            string
		taken         int
	}{
		"a part, and what another attempt had paid": {1000, 1999, "-late", 1},
		"two parts that are the whole":              {1000, 999, "", 0},
		"two parts that are not the whole":          {999, 999, "", 1},
	} {
		for _, order := range permutations(4) {
			id, left := unique("o"), s.pieces(t)
			events := []change{cancelled(id), paidBy(id, id+"-a"), refundOf(id, id+"-a", tt.first), refundOf(id, id+"-a"+tt.of, tt.second)}
			for _, i := range append(order, order...) {
				s.deliver(t, events[i]).is(t, http.StatusNoContent)
			}
			require.Equal(t, left-tt.taken, s.pieces(t), "%s, in the order %v", name, order)
		}
	}
}

// permutations lists the orders of n things.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, append(append(append([]int{}, p[:i]...), n-1), p[i:]...))
		}
	}
	return all
}

// refusesWhatIsNotGenuine also requires that the shop refuses events that are signed and can't be read.
func refusesWhatIsNotGenuine(t *testing.T, p program) {
	t.Helper()
	const stranger = "whsec_dGhpcyBpcyB0aGUgc2VjcmV0IG9mIGEgc3RyYW5nZXI="
	s, secrets, now := takesDeliveries(t, p), strings.Fields(shopSecrets), time.Now()
	paid := paidBy("o-1", "a-1")
	body := paid.body(t)
	large := append(bytes.TrimSuffix(paid.body(t), []byte("}")), []byte(`,"more":"`+strings.Repeat("x", 1<<20)+`"}`)...)
	for name, tt := range map[string]struct {
		id, secret string
		at         time.Time
		body       []byte
		status     int
	}{
		"a stranger's secret": {paid.ID, stranger, now, body, http.StatusBadRequest},
		"too old":             {paid.ID, secrets[0], now.Add(-6 * time.Minute), body, http.StatusBadRequest},
		"too large":           {paid.ID, secrets[0], now, large, http.StatusRequestEntityTooLarge},
		"another's id":        {uuid.NewString(), secrets[0], now, body, http.StatusInternalServerError},
		"no JSON":             {paid.ID, secrets[0], now, []byte("{"), http.StatusInternalServerError},
		"no data":             {paid.ID, secrets[0], now, change{ID: paid.ID, Type: "order.paid"}.body(t), http.StatusServiceUnavailable},
	} {
		a := s.post(t, tt.id, tt.secret, tt.at, tt.body)
		require.NoError(t, a.err, name)
		require.Equal(t, tt.status, a.status, name)
	}
	signature := signedBy(t, secrets[0], paid.ID, now, body)
	s.postSigned(t, paid.ID, now, signature, append(body, ' ')).is(t, http.StatusBadRequest)
	s.postSigned(t, paid.ID, now, "", body).is(t, http.StatusBadRequest)
	require.Empty(t, s.messages(t))
}

// takesEitherSecret requires that the shop accepts events signed with either of its secrets, also beside a signature that it
// can't verify, and ignores an unknown type.
func takesEitherSecret(t *testing.T, p program) {
	t.Helper()
	s, secrets, now := takesDeliveries(t, p), strings.Fields(shopSecrets), time.Now()
	paid := paidBy("o-1", "a-1")
	body := paid.body(t)
	s.post(t, paid.ID, secrets[1], now, body).is(t, http.StatusNoContent)
	s.postSigned(t, paid.ID, now, "v1,bm90IHRoaXM= "+signedBy(t, secrets[0], paid.ID, now, body), body).is(t, http.StatusNoContent)
	s.deliver(t, newChange("endpoint.test", "shop", 1, map[string]any{"endpoint": "shop"})).is(t, http.StatusNoContent)
	require.Equal(t, []string{paid.ID}, s.messages(t))
	require.Equal(t, 99, s.pieces(t))
}

// takesNothingWithoutItsDatabase starts one shop whose database, and one whose tables, are away for a time.
func takesNothingWithoutItsDatabase(t *testing.T, p program) {
	t.Helper()
	s := takesDeliveries(t, p)
	_, err := s.db.Exec(t.Context(), `ALTER TABLE stock RENAME TO away`)
	require.NoError(t, err)
	paid := paidBy("o-1", "a-1")
	s.deliver(t, paid).is(t, http.StatusServiceUnavailable)
	require.Empty(t, s.messages(t), "the marker goes with the effect")
	_, err = s.db.Exec(t.Context(), `ALTER TABLE away RENAME TO stock`)
	require.NoError(t, err)
	s.deliver(t, paid).is(t, http.StatusNoContent)
	require.Equal(t, 99, s.pieces(t))

	s.kill()
	s.environ = append(s.environ, "SHOP_DATABASE_URL=postgres://nobody@127.0.0.1:1/nothing")
	s.launch(t)
	s.listens(t)
	s.deliver(t, paid).is(t, http.StatusServiceUnavailable)
}

// TestExamplesSchema: both shops have the same tables, and the inbox's is that of package inbox.
func TestExamplesSchema(t *testing.T) {
	t.Parallel()
	goShop, err := os.ReadFile("../../../examples/go-shop/schema.sql")
	require.NoError(t, err)
	nodeShop, err := os.ReadFile("../../../examples/node-shop/schema.sql")
	require.NoError(t, err)
	require.Equal(t, string(goShop), string(nodeShop))
	require.Contains(t, string(goShop), inbox.Schema)
}
