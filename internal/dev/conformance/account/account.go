// Package account runs conformance cases against an account in a provider's test mode, through the account's own adapter.
//
//	Run ─► live? refuse ─► cases, one after the other ─► a Result each ─► clean up ─► Report
//	         └─ run: the payments that it has begun; call: one call of the adapter
//	tap: the transport below the adapter: request ids, versions, the mode, and the cut connection
//	Receiver ◄─ the provider's webhooks
//
// The cases call the port of the adapter (gateway.Provider), with the adapter, the HTTP client and the verifier that the service uses.
// They need no database. Each payment that a case begins is recorded before its call, and is cancelled or refunded in the end, also
// after an interrupt.
package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Options are an account and how it is checked.
type Options struct {
	// Name and Kind are the account's; Version is paylatch's.
	Name, Kind, Version string
	// Build returns the account on an HTTP client. Client sends the requests below it.
	Build  func(client *http.Client) (gateway.Account, error)
	Client *http.Client
	// Absent is the id of a payment that does not exist, in the form of the provider's ids; empty if the adapter sends an id of any form.
	Absent string
	Tokens Tokens
	// Customer is the provider's customer with the stored payment methods among Tokens; empty without such methods.
	Customer string
	// Money is the amount of each payment.
	Money payment.Money
	// Open shows the customer's step to a person, and returns the data that the step returned, if it returned any. It returns a
	// SkipError if no person can do the step.
	Open func(ctx context.Context, s Step) (json.RawMessage, error)
	// Receiver receives the provider's webhooks; nil: the webhook case is skipped, with the reason NoReceiver. Unannounced is set if the
	// provider sends no webhook for a payment with Tokens.Success.
	Receiver    *Receiver
	NoReceiver  string
	Unannounced bool
	// Secrets are values that the report must not contain.
	Secrets []string
	// Timeout bounds a call. Wait bounds the time until a lookup shows what a call did, and until a person has paid. WebhookWait bounds
	// the time until a webhook comes. Pause is the time between two lookups.
	Timeout, Wait, WebhookWait, Pause time.Duration
	Now                               func() time.Time
}

// Tokens are payment methods. Success pays, at once or on the provider's page; Page is set if Success leads to such a page. Decline is
// declined, Redirect needs a step of the customer. Both are empty if there is no such method.
type Tokens struct {
	Success, Decline, Redirect string
	Page                       bool
}

// Step is a step that the customer must do.
type Step struct {
	// Case is the case that waits for it. Payment is the id to look up.
	Case, Payment string
	Token         string
	Action        payment.NextAction
}

// SkipError is the reason why a case can't run.
type SkipError string

// Error implements error.
func (e SkipError) Error() string { return string(e) }

// LiveError is returned when the provider states that the account moves real money. Nothing is charged after that. If only the answer to a
// charge states it, that charge was made, and the clean-up takes it back as far as it can; see LeftError.
type LiveError struct{ Evidence string }

// Error implements error.
func (e LiveError) Error() string {
	return "the provider states that this is live mode (" + e.Evidence + "): the conformance cases charge, capture and refund, so they run only on test accounts"
}

// CantRunError is returned when the cases can't begin.
type CantRunError struct{ Reason string }

// Error implements error.
func (e CantRunError) Error() string { return "the conformance cases can't run: " + e.Reason }

// LeftError is returned when the cases end early and payments could be neither cancelled nor refunded.
type LeftError struct {
	// Err is why the cases ended.
	Err error
	// Left are the payments, as in Report.
	Left []string
}

// Error implements error.
func (e LeftError) Error() string {
	return fmt.Sprintf("%s; these payments are left, cancel or refund them in the provider's dashboard: %s", e.Err, strings.Join(e.Left, "; "))
}

// Unwrap returns why the cases ended.
func (e LeftError) Unwrap() error { return e.Err }

// Verdict is the result of a case.
type Verdict string

// The verdicts.
const (
	Held       Verdict = "held"
	Failed     Verdict = "failed"
	Skipped    Verdict = "skipped"
	NotOffered Verdict = "not_offered"
)

// Fault is the kind of a failure.
type Fault string

// The faults.
const (
	FaultUnexpected        Fault = "unexpected_answer"
	FaultDoubleCharge      Fault = "charged_twice_under_one_key"
	FaultForgotKey         Fault = "key_forgotten_after_a_lost_answer"
	FaultNotFound          Fault = "lookup_does_not_find_the_payment"
	FaultDeclineSucceeded  Fault = "decline_reported_as_success"
	FaultRefundAmount      Fault = "refund_of_another_amount"
	FaultCaptureAmount     Fault = "capture_of_another_amount"
	FaultHoldLeft          Fault = "cancel_leaves_the_hold"
	FaultWebhookRefused    Fault = "webhook_with_a_wrong_signature"
	FaultNoWebhook         Fault = "webhook_never_sent"
	FaultWebhookAmount     Fault = "webhook_of_another_amount"
	FaultMissingInBooks    Fault = "payment_missing_in_the_books"
	FaultDifferingInBooks  Fault = "books_of_another_amount"
	FaultSecondInBooks     Fault = "second_payment_in_the_books"
	FaultStillWaiting      Fault = "no_end_in_time"
	FaultCouldNotBeCleared Fault = "left_behind"
)

// Result is a case that has ended.
type Result struct {
	Case    string  `json:"case"`
	Verdict Verdict `json:"result"`
	// Fault is the kind of a failure; empty if there is no failure.
	Fault Fault `json:"fault,omitempty"`
	// Text is what was seen, or the reason of a case that did not run. ToDo is the remedy of a failure.
	Text string `json:"text"`
	ToDo string `json:"to_do,omitempty"`
	// Milliseconds is how long the case took. Payments are the provider's ids of its payments, and RequestIDs those of its requests.
	Milliseconds int64    `json:"milliseconds"`
	Payments     []string `json:"payments,omitempty"`
	RequestIDs   []string `json:"request_ids,omitempty"`
}

// Report is a whole run. It has no secret.
type Report struct {
	Paylatch   string    `json:"paylatch"`
	Account    string    `json:"account"`
	Kind       string    `json:"kind"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	// API are the versions of the provider's API, as the requests named them.
	API          []string          `json:"api_versions"`
	Capabilities map[string]string `json:"capabilities"`
	Amount       string            `json:"amount"`
	// Stopped is set if the run was interrupted.
	Stopped bool            `json:"stopped"`
	Counts  map[Verdict]int `json:"counts"`
	Cases   []Result        `json:"cases"`
	// Left are payments that could be neither cancelled nor refunded.
	Left []string `json:"left_behind"`
}

// cleanUp is the name of the last case.
const cleanUp = "clean-up"

// aCase is one case. It returns an error of the types below, or nil if it held.
type aCase struct {
	name string
	do   func(ctx context.Context, r *run) (string, error)
}

func cases() []aCase {
	return []aCase{
		{"charge", charge},
		{"same key", sameKey},
		{"lost answer", lostAnswer},
		{"decline", decline},
		{"second step", secondStep},
		{"lookup", lookup},
		{"capture", capture},
		{"captures in parts", captureParts},
		{"cancel", cancel},
		{"refund of a part", refundPart},
		{"refund of the whole", refundWhole},
		{"webhook", webhook},
		{"books", books},
	}
}

// Run checks an account and calls done after each case. It returns an error if it can't begin, or if the account moves real money.
// After the end of ctx it begins no further case, cleans up, and returns the report with Stopped. A run that ends early after a charge cleans
// up, too, and calls done with the result.
func Run(ctx context.Context, o Options, done func(Result)) (Report, error) {
	r, err := newRun(o)
	if err != nil {
		return Report{}, err
	}
	if err := r.preflight(ctx); err != nil {
		return Report{}, err
	}
	var live LiveError
	end := func(res Result) {
		r.results = append(r.results, res)
		done(r.hide.result(res))
	}
	for _, c := range cases() {
		res, err := r.one(ctx, c)
		if err != nil && (errors.As(err, &live) || errors.As(err, new(CantRunError))) {
			return Report{}, r.ended(ctx, err, end)
		}
		end(res)
	}
	end(r.clear(ctx))
	return r.report(ctx.Err() != nil), nil
}

// ended cleans up after cases that end early because of err.
func (r *run) ended(ctx context.Context, err error, end func(Result)) error {
	if !slices.ContainsFunc(r.made, func(m *made) bool { return m.sent }) {
		return err
	}
	end(r.clear(ctx))
	if len(r.left) > 0 {
		return LeftError{err, r.hide.texts(r.left)}
	}
	return err
}
