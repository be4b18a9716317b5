package begin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Payment is a test payment by an account of a running service.
type Payment struct {
	// Base is the service's address. Operations is the address of its metrics. Service and Support are tokens with these roles.
	Base, Operations, Service, Support string
	// HTTP sends the requests to the service; nil for the default.
	HTTP    *http.Client
	Account string
	Trial   kit.Trial
	// Token replaces the token of the trial; may be empty.
	Token    string
	Money    payment.Money
	Endpoint string
	// SecretsIn is the file with the webhook secrets, for the remedy.
	SecretsIn string
	// Wait bounds the time until the payment has ended and its webhook has arrived.
	Wait time.Duration
	Out  io.Writer
	Now  func() time.Time

	client *client.Client
	// refusedBefore are the refused deliveries before the payment, by problem code.
	refusedBefore map[string]int
	shown         string
}

// IncompleteError reports that the test payment did not succeed as a whole. The output has the details.
type IncompleteError struct{ Missing string }

// Error implements error.
func (e IncompleteError) Error() string {
	return "the test payment is not complete: " + e.Missing + "; the remedy is above"
}

const (
	shopper = "test-customer"
	// lookEvery is the pause between two reads of the attempt; speakEvery is the pause between two lines of progress.
	lookEvery, speakEvery = 300 * time.Millisecond, 10 * time.Second
	returnURL             = "https://shop.example/paid"
)

func (p *Payment) say(format string, args ...any) { _, _ = fmt.Fprintf(p.Out, format+"\n", args...) }

func (p *Payment) missing(what, problem, remedy string) error {
	p.say("\nmissing  %s\n         to do: %s", problem, remedy)
	return IncompleteError{what}
}

// Make makes the payment and waits for its webhook. It returns an IncompleteError if something is missing.
func (p *Payment) Make(ctx context.Context) error {
	var err error
	if p.client, err = client.New(p.Base, p.Service, client.Options{HTTP: p.HTTP}); err != nil {
		return err
	}
	p.refusedBefore = p.refused(ctx)
	order := "init-" + p.Now().UTC().Format("20060102-150405.000") // a new order for each try
	cmd := client.Command{Key: order + "-order", OnBehalfOf: shopper}
	if _, err := p.client.CreateOrder(ctx, api.CreateOrder{OrderID: &order, Amount: p.Money.Minor, Currency: string(p.Money.Currency)}, cmd); err != nil {
		return p.unmade(ctx, err)
	}
	p.say("2/4  order %s of %s", order, p.Money)
	a, err := p.client.Pay(ctx, order, p.pay(), client.Command{Key: order + "-pay", OnBehalfOf: shopper})
	if err != nil {
		return p.unmade(ctx, err)
	}
	p.say("3/4  paid with %s: payment attempt %s, %s", p.token(), a.PaymentAttemptID, progress(*a))
	if p.Trial.Unannounced && p.Token == "" && a.Status == api.AttemptStatusSucceeded {
		p.say("4/4  no webhook to wait for: the provider sends no webhook for such a payment")
		return nil
	}
	p.say("4/4  waiting for the webhook at %s, %s at most", p.Endpoint, p.Wait)
	return p.await(ctx, a.PaymentAttemptID)
}

func (p *Payment) token() string {
	switch {
	case p.Token != "":
		return p.Token
	case p.Trial.Token != "":
		return p.Trial.Token
	}
	return p.Trial.Page
}

func (p *Payment) pay() api.Pay {
	body := api.Pay{Account: &p.Account, PaymentMethod: api.PaymentMethod{Token: p.token()}}
	if p.token() != p.Trial.Page {
		return body
	}
	to, email, name := returnURL, "customer@shop.example", "Test Customer"
	body.ReturnURL, body.Customer = &to, &api.Customer{Email: &email, Name: &name}
	return body
}

// unmade returns the error of a call that the service did not take.
func (p *Payment) unmade(ctx context.Context, err error) error {
	var refused *client.ProblemError
	switch {
	case ctx.Err() != nil:
		return ErrStopped
	case !errors.As(err, &refused):
		return p.missing("no payment", err.Error(), "look at the service's log")
	case refused.Status == http.StatusUnauthorized:
		return p.missing("no payment", "the service at "+p.Base+" has another configuration: it refuses the token",
			"stop it, or give this configuration another address (listen)")
	}
	text := refused.Detail
	if refused.Errors != nil {
		fields := []string{text}
		for _, e := range *refused.Errors {
			fields = append(fields, e.Field+" "+e.Message)
		}
		text = strings.Join(fields, "; ")
	}
	text = strings.ReplaceAll(text, "`", "")
	return p.missing("no payment", fmt.Sprintf("the service refused the request: %d %s: %s", refused.Status, refused.Code, text), p.Base+"/problems/"+refused.Code+" describes the code")
}

func progress(a api.Attempt) string {
	text := string(a.Status)
	if a.Status == api.AttemptStatusPending {
		text = string(a.Stage)
	}
	if a.ProviderPaymentID != nil && *a.ProviderPaymentID != "" {
		text = *a.ProviderPaymentID + " at the provider, " + text
	}
	return text
}

// await reads the attempt until it has ended and its webhook has come, or nothing more can come.
func (p *Payment) await(ctx context.Context, id string) error {
	begun := p.Now()
	spoken := begun
	for {
		page, err := p.page(ctx, id)
		switch {
		case ctx.Err() != nil:
			return ErrStopped
		case err != nil && p.Now().Sub(begun) > p.Wait:
			return p.missing("no answer", err.Error(), "look at the service's log")
		case err == nil:
			p.show(page.Attempt)
			if done, err := p.judge(ctx, page, p.Now().Sub(begun) > p.Wait); done {
				return err
			}
		}
		if now := p.Now(); now.Sub(spoken) >= speakEvery {
			spoken = now
			p.say("     still waiting after %s", now.Sub(begun).Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return ErrStopped
		case <-time.After(lookEvery):
		}
	}
}

// show prints a page for the customer once.
func (p *Payment) show(a api.Attempt) {
	n := a.NextAction
	if n == nil || n.URL == nil || *n.URL == p.shown {
		return
	}
	p.shown = *n.URL
	p.say("\n     Open this page, and %s:\n\n       %s\n", p.Trial.ByHand, *n.URL)
}

// judge reports whether the payment is complete, or can't be any more.
func (p *Payment) judge(ctx context.Context, page api.SupportAttempt, late bool) (done bool, err error) {
	a := page.Attempt
	if a.Status == api.AttemptStatusFailed {
		reason := "without a reason"
		if f := a.Failure; f != nil {
			if reason = string(f.Code); f.ProviderCode != nil {
				reason += ", the provider's code " + *f.ProviderCode
			}
		}
		return true, p.missing("the payment has failed", "the payment has failed: "+reason, "look the code up at the provider; `paylatch doctor` checks the account's keys")
	}
	for code, n := range p.refused(ctx) {
		if n > p.refusedBefore[code] {
			return true, p.missing("the webhook was refused", "a webhook arrived and was refused: "+code, p.remedy(code))
		}
	}
	paid, webhook := a.Status == api.AttemptStatusSucceeded, len(page.Events) > 0
	switch {
	case paid && webhook:
		p.arrived(page)
		return true, nil
	case !late:
		return false, nil
	case webhook:
		p.arrived(page)
		return true, p.missing("the payment has not ended", "the payment is still "+progress(a)+"; it may end later", "`paylatch attempt show "+a.PaymentAttemptID+"` shows its timeline")
	case paid:
		p.say("ok       the payment: %s captured, %s", payment.Money{Minor: a.AmountCaptured, Currency: payment.Currency(a.Currency)}, progress(a))
		return true, p.missing("no webhook", "no webhook arrived at "+p.Endpoint, "start the tunnel, and check the address and the events in the provider's dashboard; the provider repeats webhooks that did not arrive")
	}
	return true, p.missing("no result", "the payment is still "+progress(a)+", and no webhook arrived at "+p.Endpoint,
		"check the provider's dashboard, the tunnel, and `paylatch doctor`")
}

// arrived prints the payment and its webhooks.
func (p *Payment) arrived(page api.SupportAttempt) {
	a := page.Attempt
	p.say("\nok       the payment: %s captured, %s", payment.Money{Minor: a.AmountCaptured, Currency: payment.Currency(a.Currency)}, progress(a))
	meanings := map[string]string{"applied": "it changed the payment", "repeat": "it repeats the response"}
	for _, e := range page.Events {
		p.say("ok       the webhook %s: %s, genuine, verdict %s%s", e.ProviderEventID, e.Kind, e.Verdict, inBrackets(meanings[e.Verdict]))
	}
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// remedy returns the remedy for a refused delivery.
func (p *Payment) remedy(code string) string {
	switch code {
	case "webhook-signature-invalid":
		return "put the signing secret that the provider or its tunnel shows into " + p.SecretsIn + " (webhook_secrets), and run paylatch init --try again; paylatch keeps the refused webhook for a day"
	case "webhook-signature-missing", "webhook-signature-malformed":
		return "check that the provider signs its webhooks for " + p.Endpoint + ", and that the tunnel or proxy passes the signature on unchanged"
	case "webhook-too-old", "webhook-too-new":
		return "set this machine's clock by NTP"
	}
	return p.Base + "/problems/" + code + " describes the code"
}

// page reads the attempt as support sees it.
func (p *Payment) page(ctx context.Context, id string) (page api.SupportAttempt, err error) {
	text, err := p.get(ctx, p.Base+"/v1/support/attempts/"+id)
	if err == nil {
		err = json.Unmarshal(text, &page)
	}
	if err != nil {
		return page, fmt.Errorf("read attempt %s: %w", id, err)
	}
	return page, nil
}

var errAnswer = errors.New("the service's answer")

// limit bounds a read of the service, in bytes.
const limit = 8 << 20

func (p *Payment) get(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, speakEvery)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("read from the service: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Support)
	resp, err := cmp.Or(p.HTTP, &http.Client{}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("read from the service: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %s", errAnswer, resp.Status)
	}
	return text, err
}

var refusals = regexp.MustCompile(`(?m)^paylatch_webhooks_refused_total\{([^}]*)\} ([0-9]+)$`)

// refused counts the refused deliveries of the account by problem code. Without readable metrics there are none.
func (p *Payment) refused(ctx context.Context) map[string]int {
	text, _ := p.get(ctx, p.Operations+"/metrics")
	counts := map[string]int{}
	for _, m := range refusals.FindAllStringSubmatch(string(text), -1) {
		labels := labelsOf(m[1])
		if n, err := strconv.Atoi(m[2]); err == nil && labels["account"] == p.Account {
			counts[labels["code"]] += n
		}
	}
	return counts
}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

func labelsOf(text string) map[string]string {
	labels := map[string]string{}
	for _, m := range label.FindAllStringSubmatch(text, -1) {
		labels[m[1]] = m[2]
	}
	return labels
}
