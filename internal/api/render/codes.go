package render

import (
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// kind is one code of problems.
type kind struct {
	code   string
	status int
	// retryable reports whether the same request may be sent again unchanged, after wait.
	retryable bool
	wait      time.Duration
	// executed marks the result of an executed command, which is kept with its key.
	executed bool
	// meaning is for the code's page. detail is the next step for the caller, for the page and the response.
	meaning, detail string
}

// title is the code in words.
func (k kind) title() string {
	return strings.ToUpper(k.code[:1]) + strings.ReplaceAll(k.code[1:], "-", " ")
}

func kinds() []kind {
	return slices.Concat(requestKinds(), failureKinds(), keyKinds(), methodKinds(), paymentKinds(), supportKinds(), webhookKinds())
}

func requestKinds() []kind {
	return []kind{
		{
			code: "malformed-request", status: 400,
			meaning: "The request can't be read: its body is not one JSON object in UTF-8, or has members that are unknown or come twice, or a header or the query string is broken.",
			detail:  "Correct the request and send it again.",
		},
		{
			code: "unauthenticated", status: 401,
			meaning: "The request has no token, or one that is not valid: expired, signed by somebody else, meant for another audience, an ID token, or of a sub that is no user's.",
			detail:  "Get a new token and send the request with Authorization: Bearer.",
		},
		{
			code: "forbidden", status: 403,
			meaning: "The token is valid, but its role does not allow this, and then the detail names the roles that do; or what is named belongs to another user, or does not exist: a customer is not told which.",
			detail:  "Use the token of the owner, or of a service that acts for the owner by On-Behalf-Of.",
		},
		{
			code: "on-behalf-of-missing", status: 400,
			meaning: "A token with the role service acts for somebody, and every command must say for whom: the user whose order it is. Nothing was begun.",
			detail:  "Send the header On-Behalf-Of with the user's id.",
		},
		{
			code: "not-found", status: 404, executed: true,
			meaning: "There is nothing at this address: no such call, or no order, attempt, refund, event, discrepancy or endpoint of this id.",
			detail:  "Check the path and the id.",
		},
		{
			code: "method-not-allowed", status: 405,
			meaning: "The address exists, but not with this method.",
			detail:  "Use one of the methods in the header Allow.",
		},
		{
			code: "request-timeout", status: 408, retryable: true,
			meaning: "The body of the request did not arrive in time.",
			detail:  "Send the same request again.",
		},
		{
			code: "body-too-large", status: 413,
			meaning: "The body is larger than the call takes (`x-max-bytes` in the contract), or of a webhook that nobody signed more than 32 KiB would be stored.",
			detail:  "Send a smaller body.",
		},
		{
			code: "unsupported-media-type", status: 415,
			meaning: "The body is not declared as JSON in UTF-8.",
			detail:  "Send one header Content-Type: application/json and no Content-Encoding.",
		},
		{
			code: "validation-failed", status: 422,
			meaning: "The request can be read, but some of its values can't be accepted. The member errors names each of them.",
			detail:  "Correct the fields named in errors and send the request again.",
		},
		{
			code: "card-number-refused", status: 422,
			meaning: "A member of the request holds a card number in clear: 13 to 19 digits, in one piece or in groups, that begin like a card network's numbers and whose check digit is right. The member errors names it. It was not stored, logged or passed on.",
			detail:  "Send what the provider's page or library gives in place of the card. An id that is no card number and looks like one needs more or fewer digits, or a letter within them.",
		},
		{
			code: "rate-limited", status: 429, retryable: true, wait: time.Second,
			meaning: "Too many requests came in a short time, or as many as may wait at once with one status token, or as one user.",
			detail:  "Wait as long as Retry-After says, then send the same request again.",
		},
	}
}

func failureKinds() []kind {
	return []kind{
		{
			code: "internal", status: 500, retryable: true,
			meaning: "Something went wrong here that is not the caller's doing. What it was is in the log, beside the request's id.",
			detail:  "Send the same request again with the same key. If that does not help, tell the operator the request_id.",
		},
		{
			code: "authentication-unavailable", status: 503, retryable: true, wait: 5 * time.Second,
			meaning: "The token can't be checked at the moment, because the issuer's keys can't be fetched. Nothing was begun.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
		{
			code: "storage-unavailable", status: 503, retryable: true, wait: 2 * time.Second,
			meaning: "The database can't be reached, did not answer in time, or lacks migrations or rights. What was not on disk was not begun.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
		{
			code: "reconciliation-required", status: 503, retryable: true, wait: time.Minute,
			meaning: "The database was restored, and may have forgotten pays and refunds. None is begun until the providers' books were compared with it: a refund waits for its own account, a pay for all.",
			detail:  "Nothing was begun. Wait as long as Retry-After says, then send the same request again with the same key. The operator ends this by `paylatch reconcile`.",
		},
		{
			code: "account-paused", status: 503, retryable: true, wait: time.Minute,
			meaning: "The operator has paused the pays of this account (enabled: webhooks in its configuration). What was begun by it goes on.",
			detail:  "Nothing was begun. Name another account, with a new key, or wait as long as Retry-After says and send the same request again with the same key.",
		},
		{
			code: "overloaded", status: 503, retryable: true, wait: time.Second,
			meaning: "More is coming in than can be worked off at the moment.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
	}
}

func keyKinds() []kind {
	return []kind{
		{
			code: "idempotency-key-missing", status: 400,
			meaning: "Every command needs a key of its own, so that it is executed once however often it is sent.",
			detail:  "Send the header Idempotency-Key with a new random value for each intention, and the same value when you repeat it.",
		},
		{
			code: "idempotency-key-invalid", status: 400,
			meaning: "The key is not 8 to 200 characters of A-Z a-z 0-9 - _ . : ~, bare or in double quotes, or it was sent more than once.",
			detail:  "Send one Idempotency-Key of 8 to 200 characters of A-Z a-z 0-9 - _ . : ~; a UUID is fine.",
		},
		{
			code: "idempotency-key-in-query", status: 400,
			meaning: "The key was in the query string, where logs and histories would keep it.",
			detail:  "Send the key in the header Idempotency-Key and nowhere else.",
		},
		{
			code: "idempotency-key-reused", status: 409,
			meaning: "This key was used for another request. That request is untouched.",
			detail:  "Send this request with a new key, or the first request again as it was.",
		},
		{
			code: "request-in-progress", status: 409, retryable: true, wait: time.Second,
			meaning: "The same command, or another one on the same order or attempt, is still under way.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
		{
			code: "quota-exceeded", status: 429, retryable: true,
			meaning: "This user has sent more new keys than the quota allows. Repeating an earlier request costs nothing.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
	}
}

// methodKinds are the errors about the payment method and the account.
func methodKinds() []kind {
	return []kind{
		{
			code: "account-not-offered", status: 403,
			meaning: "A customer's token named an account that the configuration does not offer to customers. The key was not used up.",
			detail:  "Leave account out to pay by the default one, or have the shop's backend pay.",
		},
		{
			code: "stored-payment-method", status: 422,
			meaning: "The token is that of a payment method which the provider keeps: whoever knows it could charge it. It is taken only from the merchant's backend, which says that it is stored.",
			detail:  "Let the backend pay with payment_method.stored: true and the customer's own reference, or use a token that the customer has just given.",
		},
		{
			code: "payment-method-not-yours", status: 403,
			meaning: "There is no stored payment method of this name at the provider, or it belongs to another customer than customer.reference says. Nothing was charged.",
			detail:  "Name the customer by customer.reference as the provider knows them, and one of their own stored payment methods.",
		},
		{
			code: "provider-unavailable", status: 503, retryable: true, wait: 2 * time.Second,
			meaning: "The provider has to be asked whose the stored payment method is, and does not answer. Nothing was begun.",
			detail:  "Wait as long as Retry-After says, then send the same request again with the same key.",
		},
	}
}

func paymentKinds() []kind {
	return []kind{
		{
			code: "order-exists", status: 409, executed: true,
			meaning: "The order's id is taken, by an order with other content or of another user.",
			detail:  "Choose another order_id, or leave it out to get one.",
		},
		{
			code: "order-already-paid", status: 409, executed: true,
			meaning: "The order is paid. Or an attempt that had failed turned out to hold money, in whatever currency: then the member attempt shows it, and what to tell the customer is: " +
				payment.LateMoneyText + " Either way the order is not charged twice.",
			detail: "Read the order and show it as paid.",
		},
		{
			code: "order-cancelled", status: 409, executed: true,
			meaning: "The order was cancelled, or is just being cancelled.",
			detail:  "Create a new order.",
		},
		{
			code: "payment-in-progress", status: 409,
			meaning: "Another payment of this order is under way, perhaps in another window, or money may still be held for one that has failed: " +
				"then the same request may be sent again later. The member attempt shows it. The key was not used up.",
			detail: "Follow the attempt in the member attempt; pay again only if it fails.",
		},
		{
			code: "attempt-final", status: 409, executed: true,
			meaning: "The attempt has succeeded or failed, and that does not change any more.",
			detail:  "Read the attempt. To give money back, refund it.",
		},
		{
			code: "attempt-not-completable", status: 409,
			meaning: "There is nothing to complete: the attempt does not wait for its customer, or its provider takes nothing more than the pay.",
			detail:  "Read the attempt and do what its stage says.",
		},
		{
			code: "attempt-not-capturable", status: 409,
			meaning: "There is no authorised money to capture: the attempt is not authorised yet, or no longer.",
			detail:  "Read the attempt and confirm it when its stage is authorized.",
		},
		{
			code: "capture-exceeds-authorization", status: 409, executed: true,
			meaning: "More was to be captured than was authorised.",
			detail:  "Confirm with a smaller amount and a new key.",
		},
		{
			code: "attempt-not-refundable", status: 409,
			meaning: "The attempt holds no money that could be paid back.",
			detail:  "Read the attempt; it can be refunded once it has captured money.",
		},
		{
			code: "refund-exceeds-payment", status: 409, executed: true,
			meaning: "More was to be refunded than is left, refunds that are under way included.",
			detail:  "Read the attempt and refund at most what is left, with a new key.",
		},
		{
			code: "cursor-expired", status: 410,
			meaning: "Events behind this cursor are not kept any more: they were never read from here. Or, with restart_after, the database was restored to a time before the cursor.",
			detail:  "Compare what you have with the orders that changed since, then read from the oldest event: leave after out.",
		},
		{
			code: "dispute-open", status: 409,
			meaning: "A dispute of this payment is open: the bank may give the customer the same money, and a refund beside it is lost where it does.",
			detail:  "Look at the dispute. If the money is to be refunded all the same, send acknowledge_dispute: true with a new key.",
		},
		{
			code: "payment-ambiguous", status: 409,
			meaning: "Several payments of this attempt hold money: the customer was charged more than once.",
			detail:  "Send provider_payment_id: the payment that is to be refunded.",
		},
		{
			code: "refundable-changed", status: 412,
			meaning: "Another amount is left to refund than expected_refundable says: somebody else has refunded meanwhile.",
			detail:  "Read the attempt and decide anew.",
		},
	}
}

func webhookKinds() []kind {
	return []kind{
		{
			code: "unknown-account", status: 404,
			meaning: "No account of this name receives webhooks here.",
			detail:  "Check the address that is registered at the provider against the configured accounts.",
		},
		{
			code: "webhooks-paused", status: 503, retryable: true, wait: time.Minute,
			meaning: "The operator has paused the webhooks of this account (enabled: pays in its configuration). Nothing of the delivery was kept.",
			detail:  "Send it again as long as Retry-After says, or later; the operator sets enabled to all, or leaves it out, to take webhooks again.",
		},
		{
			code: "webhook-signature-missing", status: 401,
			meaning: "The delivery carries no signature. Nothing of it was kept.",
			detail:  "Send the delivery as the provider signs it.",
		},
		{
			code: "webhook-signature-malformed", status: 400,
			meaning: "The header or field with the signature is not of the form that the provider documents. Nothing of it was kept.",
			detail:  "Check that the account is of the right kind and that no proxy changes headers.",
		},
		{
			code: "webhook-signature-invalid", status: 401,
			meaning: "No configured secret made this signature over exactly these bytes. Nothing of it was taken in. It is kept for a day, encrypted, and verified again if the account's secrets change.",
			detail:  "Check the account's secrets, and that no proxy changes the body.",
		},
		{
			code: "webhook-too-old", status: 400,
			meaning: "The delivery was signed longer ago than the provider's tolerance allows. Nothing of it was kept.",
			detail:  "Send it anew with a fresh signature; check the clocks.",
		},
		{
			code: "webhook-replayed", status: 400,
			meaning: "The id of the delivery came before with another body. The provider's signature covers only a checksum of the body, so this one was made for the signature of the other. Nothing of it was kept.",
			detail:  "Send it anew with an id of its own and a fresh signature.",
		},
		{
			code: "webhook-too-new", status: 400,
			meaning: "The delivery was signed in the future. Nothing of it was kept.",
			detail:  "Check the clocks on both sides.",
		},
		{
			code: "webhook-sender-refused", status: 403,
			meaning: "The sender's address is not one of the provider's, or not among the account's allowed_ips. Nothing of it was kept.",
			detail:  "Check allowed_ips and the trusted proxies in the configuration.",
		},
		{
			code: "webhook-payload-invalid", status: 400,
			meaning: "The body is not what the provider documents. Nothing of it was kept.",
			detail:  "Check that the account is of the right kind.",
		},
		{
			code: "webhook-verification-unavailable", status: 503, retryable: true, wait: 30 * time.Second,
			meaning: "The signature can't be checked at the moment, because a certificate can't be fetched. Nothing was learnt about the sender.",
			detail:  "Send the same delivery again.",
		},
	}
}
