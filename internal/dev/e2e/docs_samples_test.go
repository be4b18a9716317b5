package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

// The ids of the contract's examples, which stand for the reader's own.
const (
	sampleAttempt     = "01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"
	sampleRefund      = "01980d3e-9a10-7b55-8f0a-5d6c1e2f3a4b"
	sampleDispute     = "01980d3f-1c20-7d44-9e1b-7a8b9c0d1e2f"
	sampleEvent       = "01980d3e-8c11-7d02-a1b5-0c9d8e7f6a5b"
	sampleDiscrepancy = "01980d3e-8d22-7e13-b2c6-1d0e9f8a7b6c"
	sampleAsked       = "01980d3e-8f44-7a35-94e8-3f2a1b0c9d8e"
	sampleJob         = "01980d3e-8e33-7f24-a3d7-2e1f0a9b8c7d"
	sampleKey         = "01980d40-2b31-7e55-8c2d-4f5a6b7c8d9e"
	sampleNews        = "8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90"
	samplePayout      = "01980d4a-0b1c-7e2d-8f3a-4b5c6d7e8f90"
	// The result of the provider's page is shown in Adyen's form; the sandbox has a parameter of its own.
	sampleDetails = `{"redirectResult":"eyJ0cmFuc1N0YXR1cyI6IlkifQ=="}`
)

// sampled is a running program at which the samples are tried.
type sampled struct {
	*demoShop
	t    *testing.T
	curl map[string]string
	// ids are the program's ids in place of the contract's.
	ids map[string]string
	ran map[string]bool
}

// TestDocsSamples runs each curl sample of the docs page, as printed but for the ids.
func TestDocsSamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s to run the samples with", name)
		}
	}
	receiver := newReceiver(t)
	receiver.repair()
	s := &sampled{
		demoShop: openConsole(t, receiver.configured(), "PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, webhook_secrets: ["+sandboxSecret+
			"]}, {name: stripe, kind: stripe, webhook_secrets: [whsec_stripe]}, {name: stripe-eu, kind: stripe, webhook_secrets: [whsec_stripe]}]"),
		t: t, curl: curlSamples(t), ids: map[string]string{}, ran: map[string]bool{},
	}
	s.commands()
	s.reads()
	s.staff()
	s.rest()
	for id := range s.curl {
		require.True(t, s.ran[id], "%s was not run", id)
	}
}

func curlSamples(t *testing.T) map[string]string {
	t.Helper()
	d, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	all := map[string]string{}
	for _, op := range d.Operations() {
		for _, sample := range api.SamplesOf(d, op) {
			if sample.Lang == api.Curl {
				all[op.ID] = sample.Text
			}
		}
	}
	return all
}

// run runs a sample with ids in place of the contract's ids, and requires a status. It tries again while another command on the
// same object is under way.
func (s *sampled) run(id, status string, ids ...string) map[string]any {
	s.t.Helper()
	for from, to := range s.ids {
		ids = append(ids, from, to)
	}
	text, found := s.curl[id]
	require.True(s.t, found, id)
	text = strings.Replace(strings.NewReplacer(ids...).Replace(text), "curl -sS", `curl -sS -m 240 -w '\n%{http_code}'`, 1)
	var got, said string
	eventually(s.t, "an end of what is under way", func() bool {
		got, said = s.executed(text)
		return got != "409" || !strings.Contains(said, `"request-in-progress"`)
	})
	require.Equal(s.t, status, got, "%s\n%s", text, said)
	s.ran[id] = true
	var body map[string]any
	_ = json.Unmarshal([]byte(said), &body) // a page or a stream is no JSON
	return body
}

// executed returns the status and the body that a sample prints.
func (s *sampled) executed(text string) (status, body string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Env = append(os.Environ(), "API="+s.base, "TOKEN="+token("shop", "service"), "STAFF="+token("ada", "admin"))
	said, err := cmd.Output()
	end := bytes.LastIndexByte(said, '\n')
	require.GreaterOrEqual(s.t, end, 0, "%s\n%s\n%v", text, said, err)
	return string(said[end+1:]), string(said[:end])
}

// prepared has an order with a payment, for samples that need one of a certain kind.
func (s *sampled) prepared(order, pay string) string {
	s.t.Helper()
	c := client{base: s.base, token: token("shop", "service"), user: "u1"}
	c.createOrder(s.t.Context(), order, unique("order")).is(s.t, http.StatusCreated)
	if pay == "" {
		return ""
	}
	return c.send(s.t.Context(), http.MethodPost, "/v1/orders/"+order+"/pay", pay, "Idempotency-Key: "+unique("pay")).attempt(s.t, http.StatusCreated).ID
}

func (s *sampled) commands() {
	require.Equal(s.t, "open", s.run("createOrder", "201")["status"])
	paid := s.run("pay", "201")
	require.Equal(s.t, "succeeded", paid["status"])
	s.ids[sampleAttempt] = paid["payment_attempt_id"].(string)
	s.ids[sampleRefund] = s.run("createRefund", "201")["refund_id"].(string)
	s.prepared("A-12", "")
	require.EqualValues(s.t, 2, s.run("amendOrder", "200", "A-1", "A-12")["version"])
	s.prepared("A-2", "")
	s.run("cancelOrder", "200", "A-1", "A-2")
	s.prepared("A-3", "")
	registered := s.run("registerAttempt", "201", "A-1", "A-3")
	s.run("reportAttempt", "200", sampleAttempt, registered["payment_attempt_id"].(string))
	held := s.prepared("A-4", `{"payment_method":{"token":"tok_success"},"capture":"manual"}`)
	require.InDelta(s.t, 1500, s.run("confirm", "200", sampleAttempt, held)["amount_captured"], 0)
	s.run("cancelAttempt", "200", sampleAttempt, s.prepared("A-5", `{"payment_method":{"token":"tok_never"}}`))
	challenged := s.prepared("A-6", `{"payment_method":{"token":"tok_3ds"},"return_url":"https://shop.example/"}`)
	s.run("complete", "200", sampleAttempt, challenged, sampleDetails, `{"sandbox_result":"`+s.challenge(challenged)+`"}`)
	s.run("checkAttempt", "200")
}

// challenge passes the challenge of an attempt and returns the parameter with which the customer comes back.
func (s *sampled) challenge(attempt string) string {
	s.t.Helper()
	charge := one[string](s.t, s.rig, `SELECT provider_payment_id FROM payment_attempts WHERE attempt_id = $1`, attempt)
	passed := client{base: s.sandbox}.send(s.t.Context(), http.MethodPost, "/pay/"+charge, "decision=approve", "Content-Type: application/x-www-form-urlencoded")
	passed.is(s.t, http.StatusSeeOther)
	_, result, found := strings.Cut(passed.header.Get("Location"), "sandbox_result=")
	require.True(s.t, found)
	return result
}

func (s *sampled) reads() {
	require.Equal(s.t, "A-1", s.run("readOrder", "200")["order_id"])
	require.Len(s.t, s.run("listAttempts", "200")["items"], 1, "by the key of the sample of the pay")
	for _, id := range []string{"listOrders", "listPaymentAttempts", "listRefunds", "readAttempt", "readRefund", "streamAttempt"} {
		s.run(id, "200")
	}
	charge := one[string](s.t, s.rig, `SELECT provider_payment_id FROM payment_attempts WHERE attempt_id = $1`, s.ids[sampleAttempt])
	client{base: s.sandbox}.send(s.t.Context(), http.MethodPost, "/v1/dashboard/charges/"+charge+"/dispute", "{}").is(s.t, http.StatusCreated)
	eventually(s.t, "the dispute", func() bool {
		found := column[string](s.t, s.rig, `SELECT dispute_id::text FROM disputes`)
		if len(found) > 0 {
			s.ids[sampleDispute] = found[0]
		}
		return len(found) > 0
	})
	require.Len(s.t, s.run("listDisputes", "200")["items"], 1)
	s.run("readDispute", "200")
	s.ids[samplePayout] = one[string](s.t, s.rig, `INSERT INTO payouts (payout_id, account, provider_payout_id, created_at, updated_at)
		VALUES (gen_random_uuid(), 'sandbox', 'po_1', now(), now()) RETURNING payout_id::text`)
	for _, id := range []string{"listSettlements", "listPayouts", "readPayout", "listReconciliations"} {
		s.run(id, "200")
	}
	events := s.run("readEvents", "200")["items"].([]any)
	s.ids[sampleNews] = events[0].(map[string]any)["id"].(string)
	eventually(s.t, "the endpoint was sent the event", func() bool {
		return one[int](s.t, s.rig, `SELECT count(*) FROM endpoint_deliveries WHERE endpoint = 'shop' AND message_id::text = $1`, s.ids[sampleNews]) > 0
	})
	for _, id := range []string{"listEndpoints", "listDeliveries", "testEndpoint", "redeliver"} {
		s.run(id, "200")
	}
}

func (s *sampled) staff() {
	s.run("supportSearch", "200")
	seen := s.run("supportAttempt", "200")
	s.ids[sampleEvent] = seen["events"].([]any)[0].(map[string]any)["event_id"].(string)
	late := s.prepared("A-7", `{"payment_method":{"token":"tok_late_success"}}`)
	eventually(s.t, "the late success", func() bool {
		found := column[string](s.t, s.rig, `SELECT discrepancy_id::text FROM discrepancies WHERE attempt_id = $1`, late)
		if len(found) > 0 {
			s.ids[sampleDiscrepancy] = found[0]
		}
		return len(found) > 0
	})
	for _, id := range []string{"supportRecheck", "supportEvent", "supportReveal", "supportReplay", "supportDiscrepancies", "supportDiscrepancy", "supportAssign", "supportOverview", "supportReplayMany", "supportResolveMany", "supportJobs", "supportAudit"} {
		s.run(id, "200")
	}
	s.run("supportComment", "201")
	s.ids[sampleAsked] = s.run("supportAskForRefund", "201", sampleAttempt, s.prepared("A-8", `{"payment_method":{"token":"tok_success"}}`))["refund_request_id"].(string)
	s.run("supportRefundRequests", "200")
	s.run("supportRefundRequest", "200")
	require.Equal(s.t, "second-person-needed", s.run("supportApproveRefund", "409")["code"], "the samples have one person's token")
	s.run("supportDeclineRefund", "200")
	require.Equal(s.t, "attempt-not-pending", s.run("supportResolve", "409")["code"], "that of the example is one whose payment is pending")
	admin := client{base: s.base, token: token("ada", "admin")}
	begun := admin.send(s.t.Context(), http.MethodPost, "/v1/support/events/replay", `{"filter":{"account":"sandbox","verdict":"unmatched"},"reason":"a job to look at","dry_run":false}`)
	require.Less(s.t, begun.status, 300, "%s", begun.text)
	var job struct {
		ID string `json:"job_id"`
	}
	require.NoError(s.t, json.Unmarshal(begun.text, &job))
	s.ids[sampleJob] = job.ID
	s.run("supportJob", "200")
	s.run("supportStopJob", "200")
	s.ids[sampleKey] = s.run("createKey", "201")["key_id"].(string)
	require.Len(s.t, s.run("listKeys", "200")["items"], 1)
	require.Equal(s.t, true, s.run("revokeKey", "200")["deleted"])
}

func (s *sampled) rest() {
	for _, id := range []string{"healthz", "readyz", "metrics", "openapi", "docs", "browserClient", "problems", "problem"} {
		s.run(id, "200")
	}
}
