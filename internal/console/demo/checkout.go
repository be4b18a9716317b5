package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/platform/page"
)

// phase is where a payment stands, in the words of the browser client.
type phase string

const (
	idle      phase = "idle"
	sending   phase = "sending"
	checking  phase = "checking"
	form      phase = "form"
	action    phase = "action"
	succeeded phase = "succeeded"
	failed    phase = "failed"
	arrived   phase = "arrived"
	cancelled phase = "cancelled"
	refused   phase = "refused"
	unknown   phase = "unknown"
)

// phaseText is the status line of each phase. The script reads it from the page.
func phaseText(p phase) string {
	return map[phase]string{
		idle:      "",
		sending:   "Sending…",
		checking:  "Checking the payment…",
		form:      "The provider's own form takes the payment.",
		action:    "Your bank asks you to approve this payment.",
		succeeded: "Paid. Thank you!",
		failed:    "The payment failed.",
		arrived:   "Your payment arrived after all; the shop is looking at it.",
		cancelled: "This order was cancelled.",
		refused:   "The payment could not be started. Choose another way to pay.",
		unknown:   "We don't know yet whether the payment went through. Nothing is charged twice.",
	}[p]
}

func phases() []phase {
	return []phase{idle, sending, checking, form, action, succeeded, failed, arrived, cancelled, refused, unknown}
}

// checkout is the content of the page.
type checkout struct {
	Order   order
	Phase   phase
	Attempt *attempt
	// CanPay shows the form.
	CanPay bool
	// ByForm is for the checkout with the provider's own form.
	ByForm bool
	// Text stands in place of the phase's.
	Text    string
	Method  string
	Charges []charge
	// Requests is how many requests to pay have reached the shop.
	Requests int
	// Course is nil where there is none to show.
	Course templ.Component
	// Look counts how often a page without a script has looked again by itself.
	Look int
}

func newCheckout(o order, byForm bool) checkout {
	c := checkout{Order: o, Phase: idle, CanPay: o.Status == "open", ByForm: byForm}
	if n := len(o.Attempts); n > 0 {
		c.Attempt = &o.Attempts[n-1]
		c.Phase, c.CanPay = c.Attempt.phase(), c.CanPay && c.Attempt.CanStart
	}
	if c.Phase == failed && slices.ContainsFunc(o.Attempts, attempt.holdsMoney) {
		c.Phase, c.CanPay = arrived, false
	}
	switch o.Status {
	case "paid":
		c.Phase = succeeded
	case "cancelled":
		c.Phase = cancelled
	}
	return c
}

// holdsMoney reports whether captured money of it is not refunded.
func (a attempt) holdsMoney() bool { return a.Captured > a.Refunded }

func (a attempt) phase() phase {
	switch {
	case a.Status == "succeeded":
		return succeeded
	case a.Status == "failed":
		return failed
	case a.Stage == "awaiting_customer" && a.NextAction != nil:
		return action
	}
	return checking
}

// StatusLine is the text of the status line.
func (c checkout) StatusLine() string {
	if c.Text != "" {
		return c.Text
	}
	text := phaseText(c.Phase)
	if c.Voucher().URL != "" {
		return voucherText
	}
	if c.Phase == failed && c.Attempt != nil && c.Attempt.Failure != nil {
		text += " " + c.Attempt.Failure.Message
	}
	return text
}

// RequestID is one for each attempt that the order may have: the form is one
// pay, however often and from wherever it is sent.
func (c checkout) RequestID() string {
	return "form:" + c.Order.ID + ":" + strconv.Itoa(len(c.Order.Attempts)+1)
}

// Pending is the attempt that is under way; empty if none is.
func (c checkout) Pending() string {
	if c.Phase == checking || c.Phase == action {
		return c.Attempt.ID
	}
	return ""
}

// Live is the attempt that is under way or has paid; empty if there is none.
func (c checkout) Live() string {
	if c.Attempt != nil && c.Attempt.Status != "failed" {
		return c.Attempt.ID
	}
	return ""
}

// elsewhere reports whether the attempt that is under way belongs to the other checkout.
func (c checkout) elsewhere() bool {
	return c.Pending() != "" && c.Attempt.external() != c.ByForm
}

// voucherText is the status line beside a voucher. The script reads it from the page.
const voucherText = "Your voucher is ready. This page waits until the voucher is paid."

// Voucher is the voucher that the customer pays at a till; zero if there is no voucher.
func (c checkout) Voucher() voucher {
	if c.Phase != action || c.Attempt.NextAction.Type != "display" {
		return voucher{}
	}
	return c.Attempt.NextAction.Data
}

// Continue is where the customer goes on; empty if that takes the script.
func (c checkout) Continue() string {
	if c.Phase != action {
		return ""
	}
	if v := c.Voucher(); v.URL != "" {
		return v.URL
	}
	return c.Attempt.NextAction.URL
}

// path is the address of the checkout.
func (c checkout) path() string {
	if c.ByForm {
		return formPath(c.Order.ID)
	}
	return checkoutPath(c.Order.ID)
}

// lookAgain is after how many seconds a page without a script looks again by
// itself: ever more slowly, and 0 when it has looked for about five minutes.
func (c checkout) lookAgain() int {
	const most = 16
	if c.Pending() == "" || c.Look >= most {
		return 0
	}
	return 2 + 2*c.Look
}

// Label is the button's, before a first try.
func (c checkout) Label() string {
	if c.ByForm {
		return "Open the provider's form"
	}
	return "Pay " + money(c.Order.Amount, c.Order.Currency)
}

// LabelNow is the button's.
func (c checkout) LabelNow() string {
	if c.Phase == failed {
		return c.Label() + " again"
	}
	return c.Label()
}

// money writes an amount of a currency with two decimals.
func money(minor int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", minor/100, minor%100, currency)
}

// showCheckout shows one of the order's two checkouts: while a payment is under way, that
// of the payment.
func (s *shop) showCheckout(byForm bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o, found, err := s.backend.order(r.Context(), r.PathValue("order"))
		switch {
		case err != nil:
			s.render(w, r, http.StatusServiceUnavailable, messagePage("One moment", "The shop can't be reached. Reload the page in a moment; nothing is lost."))
			return
		case !found:
			s.render(w, r, http.StatusNotFound, messagePage("No such order", "There is no order at this address."))
			return
		}
		c := newCheckout(o, byForm)
		if c.elsewhere() {
			c.ByForm = !byForm
			http.Redirect(w, r, c.path(), http.StatusSeeOther)
			return
		}
		if s.completeReturn(r, c) {
			http.Redirect(w, r, c.path(), http.StatusSeeOther)
			return
		}
		c.Look, _ = strconv.Atoi(r.URL.Query().Get("look"))
		c.Look = max(c.Look, 0)
		s.showAs(w, r, http.StatusOK, c)
	}
}

// showAs renders a checkout with the proof beside it. A ledger that can't be read
// leaves the proof out, not the page.
func (s *shop) showAs(w http.ResponseWriter, r *http.Request, status int, c checkout) {
	c, _ = s.proven(r.Context(), c)
	page.AllowScriptsOf(w, s.ProviderURL)
	s.render(w, r, status, checkoutPage(c, s.ProviderURL))
}

// proven adds the shop's count of requests and the charges in the provider's ledger.
func (s *shop) proven(ctx context.Context, c checkout) (checkout, error) {
	c.Requests = s.tally.requests(c.Order.ID)
	if id := c.Newest(); id != "" && s.Course != nil {
		c.Course = s.Course(ctx, id)
	}
	var err error
	c.Charges, err = s.backend.charges(ctx, c.Order)
	return c, err
}

// showCharges is the proof alone.
func (s *shop) showCharges(w http.ResponseWriter, r *http.Request) {
	o, found, err := s.backend.order(r.Context(), r.PathValue("order"))
	if err != nil || !found {
		http.Error(w, "the order can't be read", http.StatusServiceUnavailable)
		return
	}
	c, err := s.proven(r.Context(), newCheckout(o, false))
	if err != nil {
		http.Error(w, "the ledger can't be read", http.StatusServiceUnavailable)
		return
	}
	s.render(w, r, http.StatusOK, proofParts(c))
}
