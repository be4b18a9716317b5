package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tell keeps the webhook of a change, in the commit of the change.
func (p *provider) tell(kind string, c charge, of refund) {
	id := "evt_" + rand.Text()
	data := map[string]any{
		"charge_id": c.ID, "reference": c.Reference, "amount": of.Amount, "currency": c.Currency, "failure_code": c.Failure, "refund_id": nil,
	}
	if of.ID != "" {
		data["refund_id"], data["refund_reference"] = of.ID, of.Reference
	}
	at := time.Now().UTC().Format(time.RFC3339Nano)                                              //nolint:forbidigo // a program of its own
	body, _ := json.Marshal(map[string]any{"id": id, "type": kind, "created": at, "data": data}) //nolint:errchkjson // texts and numbers
	p.Due = append(p.Due, event{id, string(body)})
}

// deliver sends what is due, each second, until it was received: also what was due when the process was killed.
func (p *provider) deliver(address, secret string) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	for range time.Tick(time.Second) {
		p.mu.Lock()
		due := slices.Clone(p.Due)
		p.mu.Unlock()
		for _, e := range due {
			if err == nil && address != "" && e.send(address, key) {
				p.mu.Lock()
				p.Due = slices.DeleteFunc(p.Due, func(d event) bool { return d.ID == e.ID })
				p.save()
				p.mu.Unlock()
			}
		}
	}
}

// send signs a try anew, as Standard Webhooks, and reports whether it was received.
func (e event) send(address string, key []byte) bool {
	at := strconv.FormatInt(time.Now().Unix(), 10) //nolint:forbidigo // a program of its own
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", e.ID, at, e.Body)
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(e.Body)) //nolint:noctx,gosec // the client has a time-out; the operator names the address
	if err != nil {
		return false
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Webhook-Id": {e.ID}, "Webhook-Timestamp": {at},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
	res, err := (&http.Client{Timeout: 10 * time.Second}).Do(r) //nolint:gosec // as above
	if err != nil {
		slog.Warn("a webhook was not received", "error", err)
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode < http.StatusMultipleChoices
}
