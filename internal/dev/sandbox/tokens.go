package sandbox

import "time"

// step is an action of a charge: within the call, later by its plan, or by the
// customer's decision.
type step string

const (
	stepNone       step = ""
	stepApprove    step = "approve" // authorised with manual capture, else charged
	stepDecline    step = "decline"
	stepDisordered step = "approve_disordered"
)

// fault replaces the response of the first call with a key.
type fault int

const (
	faultNone fault = iota
	faultHang
	faultError
)

// place is where a customer decides on a charge.
type place int

const (
	_ place = iota
	// onPage is the hosted page. atTill is the hosted page for paying a voucher.
	onPage
	atTill
	// inDropin is the script, in which a token is chosen that confirms the charge.
	inDropin
)

// behaviour is the course of a charge, by its token.
type behaviour struct {
	now   step
	later step
	after time.Duration

	place        place // where the customer decides
	webhookFirst bool  // the response waits for the webhook
	copies       int   // of each webhook, when more than one
	surplus      int64 // added to the amount of the request
	save         bool  // the payment method is stored for the customer
	// challenge is the way to a 3-D Secure challenge. A second call brings the challenge's result.
	challenge string
	billing   bool // the request must have a billing address

	fault fault
	// uncharged puts the fault before anything is done; the next call with the key
	// does it.
	uncharged bool
}

func tokens(d Delays) map[string]behaviour {
	return map[string]behaviour{
		"tok_success":          {now: stepApprove},
		"tok_save":             {now: stepApprove, save: true},
		"tok_decline":          {now: stepDecline},
		"tok_async_success":    {later: stepApprove, after: d.Async},
		"tok_async_decline":    {later: stepDecline, after: d.Async},
		"tok_redirect":         {place: onPage},
		"tok_webhook_first":    {now: stepApprove, webhookFirst: true},
		"tok_twice":            {now: stepApprove, copies: 3},
		"tok_disorder":         {later: stepDisordered, after: d.Async},
		"tok_hang_charged":     {now: stepApprove, fault: faultHang},
		"tok_hang_not_charged": {now: stepApprove, fault: faultHang, uncharged: true},
		"tok_500_charged":      {now: stepApprove, fault: faultError},
		"tok_500_once":         {now: stepApprove, fault: faultError, uncharged: true},
		"tok_never":            {},
		"tok_dropin":           {place: inDropin},
		"tok_3ds":              {challenge: actionRedirect},
		"tok_3ds_form":         {challenge: actionPostForm},
		"tok_3ds_sdk":          {challenge: actionSDK},
		"tok_voucher":          {place: atTill},
		"tok_billing":          {now: stepApprove, billing: true},
		"tok_late_success":     {now: stepDecline, later: stepApprove, after: d.Late},
		"tok_wrong_amount":     {now: stepApprove, surplus: 1},
	}
}
