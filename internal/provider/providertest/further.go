package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// FurtherSamples are values of the members that captures and refunds may carry; see kit.Adapter.Further.
var FurtherSamples = gateway.Data{ //nolint:gochecknoglobals // a table
	"amount_allocations":          json.RawMessage(`[{"id":"ent_1","amount":151}]`),
	"application_fee_amount":      json.RawMessage(`151`),
	"enhancedSchemeData":          json.RawMessage(`{"airline":{"passengerName":"FURTHER"}}`),
	"lineItems":                   json.RawMessage(`[{"description":"FURTHER"}]`),
	"marketplace":                 json.RawMessage(`{"sub_entity_id":"ent_1"}`),
	"note_to_payer":               json.RawMessage(`"FURTHER"`),
	"payment_instruction":         json.RawMessage(`{"platform_fees":[{"amount":{"currency_code":"EUR","value":"1.51"}}]}`),
	"platformChargebackLogic":     json.RawMessage(`{"behavior":"deductFromOneBalanceAccount"}`),
	"refund_application_fee":      json.RawMessage(`true`),
	"reverseRouting":              json.RawMessage(`true`),
	"reverse_transfer":            json.RawMessage(`false`),
	"routingReversals":            json.RawMessage(`[{"amount":{"currency":"EUR","value":"1.51"},"source":{"type":"organization","organizationId":"org_1"}}]`),
	"soft_descriptor":             json.RawMessage(`"FURTHER"`),
	"splits":                      json.RawMessage(`[{"type":"BalanceAccount","account":"BA1","amount":{"value":151}}]`),
	"statement_descriptor":        json.RawMessage(`"FURTHER"`),
	"statement_descriptor_suffix": json.RawMessage(`"FURTHER"`),
	"store":                       json.RawMessage(`"FURTHER"`),
	"subMerchants":                json.RawMessage(`[{"mcc":"5691"}]`),
	"transfer_data":               json.RawMessage(`{"amount":151}`),
}

// further tests a descriptor's members of captures and refunds. Each allowed member is sent as it is, and is not sent
// without the caller. A member that is not allowed is never sent.
func further(t *testing.T, s Suite, a kit.Adapter) {
	t.Helper()
	for _, c := range []struct {
		allowed gateway.Members
		do      func(r *rig, d gateway.Data)
	}{{a.Further.Capture, captureWith}, {a.Further.Refund, refundWith}} {
		if len(c.allowed) == 0 {
			continue
		}
		all, unlike := gateway.Data{}, gateway.Data{"extraneous": json.RawMessage(`"EXTRANEOUS"`)}
		for name, check := range c.allowed {
			value, known := FurtherSamples[name]
			require.True(t, known, "add a sample of %s", name)
			require.Empty(t, check(value), name)
			require.NotEmpty(t, check(json.RawMessage(`null`)), name)
			all[name], unlike[name] = value, value
		}
		with, body := furtherSent(t, s, func(r *rig) { c.do(r, unlike) })
		without, _ := furtherSent(t, s, func(r *rig) { c.do(r, nil) })
		require.NotContains(t, body, "EXTRANEOUS")
		for path, want := range scalars(t, all) {
			require.Contains(t, with[path], want, "%s of %s", path, body)
			require.NotContains(t, without[path], want, path)
		}
	}
}

func captureWith(r *rig, d gateway.Data) {
	c := captureOf(r.held().ProviderPaymentID, price)
	c.ProviderData = d
	_, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
}

func refundWith(r *rig, d gateway.Data) {
	c := refundOf(r.charged(charge(r.Tokens.Success)).ProviderPaymentID, price)
	c.ProviderData = d
	_, err := r.Refund(r.Context(), c)
	require.NoError(r, err)
}

// furtherSent returns the content of the last command that the test sends: values by path, and the body.
func furtherSent(t *testing.T, s Suite, do func(r *rig)) (values map[string]string, body string) {
	t.Helper()
	r := newRig(t, s)
	do(r)
	values = map[string]string{}
	for _, q := range r.requests() {
		if q.Method != http.MethodGet && (strings.Contains(q.Path, "capture") || strings.Contains(q.Path, "refund")) {
			clear(values)
			leaves(t, q, values)
			body = string(q.Body)
		}
	}
	require.NotEmpty(t, body)
	return values, body
}

// scalars returns the texts, numbers and truths of some members by their paths.
func scalars(t *testing.T, d gateway.Data) map[string]string {
	t.Helper()
	found := map[string]string{}
	var add func(value any, path string)
	add = func(value any, path string) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				add(member, path+"."+name)
			}
		case []any:
			for _, item := range v {
				add(item, path+"[]")
			}
		default:
			found[path] = fmt.Sprint(v)
		}
	}
	for name, raw := range d {
		var value any
		require.NoError(t, json.Unmarshal(raw, &value))
		add(value, name)
	}
	return found
}
