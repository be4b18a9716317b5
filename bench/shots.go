package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// shot is a request, ready to be sent. All are made before the clock starts:
// pgbench signs nothing either.
type shot struct {
	request []byte
	// of is the number of the attempt or order that it is about.
	of int
}

// hooks makes n webhooks that report success of the attempts numbered from first. A share of them repeats a webhook that was
// sent shortly before.
func hooks(host string, ids naming, first, n int, repeats float64) ([]shot, error) {
	signer, err := newSigner()
	if err != nil {
		return nil, err
	}
	const recent = 1000
	at := now()
	shots := make([]shot, 0, n)
	for i := first; len(shots) < n; {
		if len(shots) > 0 && rand.Float64() < repeats { //nolint:gosec // a draw, not a secret
			shots = append(shots, shots[len(shots)-1-rand.IntN(min(recent, len(shots)))]) //nolint:gosec // the same
			continue
		}
		request, err := hook(signer, host, ids.event(i), i, at)
		if err != nil {
			return nil, err
		}
		shots = append(shots, shot{request, i})
		i++
	}
	return shots, nil
}

func newSigner() (*standard.Verifier, error) {
	return standard.New(webhooks.Config{Secrets: []string{webhookSecret}})
}

func hook(signer *standard.Verifier, host, id string, i int, at time.Time) ([]byte, error) {
	return hookAbout(signer, host, id, chargeID(i), attemptID(i), at)
}

// hookAbout makes a webhook that reports a charge as succeeded.
func hookAbout(signer *standard.Verifier, host, id, charge, reference string, at time.Time) ([]byte, error) {
	body := fmt.Sprintf(`{"id":%q,"type":"charge.succeeded","created":%q,"data":{"charge_id":%q,"refund_id":null,"reference":%q,`+
		`"amount":1999,"currency":"EUR","failure_code":null}}`, id, at.UTC().Format(time.RFC3339), charge, reference)
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {id}}, Body: []byte(body), ReceivedAt: at}
	if err := signer.Sign(&d); err != nil {
		return nil, fmt.Errorf("sign a webhook: %w", err)
	}
	return request(http.MethodPost, "/webhooks/bench", host, body, "webhook-id", d.Header.Get("Webhook-Id"),
		"webhook-timestamp", d.Header.Get("Webhook-Timestamp"), "webhook-signature", d.Header.Get("Webhook-Signature")), nil
}

// to is the shot at an account.
func (s shot) to(account string) shot {
	s.request = bytes.Replace(s.request, []byte("/webhooks/bench "), []byte("/webhooks/"+account+" "), 1)
	return s
}

// caller makes the requests of the merchant's backend, each for another user:
// new keys are counted by user.
type caller struct{ host, token string }

func newCaller(host string) (caller, error) {
	roles := []payment.Role{payment.RoleService}
	m := auth.Minter{Keys: []auth.HS256Key{{Secret: []byte(tokenSecret), Roles: roles}}}
	token, err := m.Mint("bench", roles, 24*time.Hour)
	return caller{host, token}, err
}

func (c caller) pays(first, n int) []shot {
	shots := make([]shot, n)
	for k := range shots {
		i := first + k
		shots[k] = shot{request(http.MethodPost, "/v1/orders/"+payOrder(i)+"/pay", c.host, `{"payment_method":{"token":"tok_success"}}`,
			"Authorization", "Bearer "+c.token, "On-Behalf-Of", payUser(i), "Idempotency-Key", "bench-pay-"+strconv.Itoa(i)), i}
	}
	return shots
}

func (c caller) reads(first, n int) []shot {
	shots := make([]shot, n)
	for k := range shots {
		i := first + k
		shots[k] = shot{request(http.MethodGet, "/v1/payment-attempts/"+attemptID(i), c.host, "",
			"Authorization", "Bearer "+c.token, "On-Behalf-Of", attemptUser(i)), i}
	}
	return shots
}

func request(method, path, host, body string, headers ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\n", method, path, host)
	for pair := range slices.Chunk(headers, 2) {
		b.WriteString(strings.Join(pair, ": ") + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}
