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
	// newKey is whether a new key may be used.
	newKey newKey
	// executed marks the result of an executed command, which is kept with its key.
	executed bool
	// meaning is for the code's page. detail is the next step for the caller, for the page and the response.
	meaning, detail string
}

// newKey is whether a request that got a problem may be sent again under a new key. Each code says so: the zero value is none.
type newKey int

const (
	_ newKey = iota
	// safe codes prove that no request under this key has executed, and that none is under way.
	safe
	// unsafe codes leave that open: the response to an earlier request under this key may have been lost. Or what was
	// requested is done, or under way, under another key.
	unsafe
)

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
			code: "malformed-request", status: 400, newKey: safe,
			meaning: "The request can't be read. Its body is not one JSON object in UTF-8, or has unknown or repeated members; or a header or the query string is malformed.",
			detail:  "Correct the request and send it again.",
		},
		{
			code: "unauthenticated", status: 401, newKey: unsafe,
			meaning: "The request has no valid token. The token is missing, expired, signed by an unknown key, for another audience or an ID token; or its `sub` is not a user's id.",
			detail:  "Get a new token and send the request with Authorization: Bearer.",
		},
		{
			code: "forbidden", status: 403, newKey: safe,
			meaning: "The token is valid, but its role does not allow this request; the detail then names the allowed roles. Or the resource belongs to another user or does not exist; the response does not show a customer which of the two.",
			detail:  "Use the token of the owner, or of a service that acts for the owner by On-Behalf-Of.",
		},
		{
			code: "on-behalf-of-missing", status: 400, newKey: safe,
			meaning: "A token with the role service acts for a user. Every command must name the user who owns the order. Nothing was begun.",
			detail:  "Send the header On-Behalf-Of with the user's id.",
		},
		{
			code: "not-found", status: 404, newKey: safe, executed: true,
			meaning: "Nothing exists at this address: the API has no such call, or no order, attempt, refund, event, discrepancy or endpoint has this id.",
			detail:  "Check the path and the id.",
		},
		{
			code: "method-not-allowed", status: 405, newKey: safe,
			meaning: "The address exists, but not with this method.",
			detail:  "Use one of the methods in the header Allow.",
		},
		{
			code: "request-timeout", status: 408, newKey: unsafe, retryable: true,
			meaning: "The request's body did not arrive in time.",
			detail:  "Send the same request again with the same key.",
		},
		{
			code: "body-too-large", status: 413, newKey: safe,
			meaning: "The body is larger than the call's limit (`x-max-bytes` in the contract); or the webhook is unsigned, and paylatch would have to store more than 32 KiB of it.",
			detail:  "Send a smaller body.",
		},
		{
			code: "unsupported-media-type", status: 415, newKey: safe,
			meaning: "The body is not declared as JSON in UTF-8.",
			detail:  "Send one header Content-Type: application/json and no Content-Encoding.",
		},
		{
			code: "validation-failed", status: 422, newKey: safe,
			meaning: "The request can be read, but some of its values can't be accepted. The member `errors` names each of them.",
			detail:  "Correct the fields that `errors` names and send the request again.",
		},
		{
			code: "card-number-refused", status: 422, newKey: safe,
			meaning: "A member of the request contains a card number in clear: 13 to 19 digits, in one piece or in groups, with the first digits of a card network and a correct check digit. The member `errors` names the field. The number was not stored, logged or sent to a provider.",
			detail:  "Send the token that the provider's page or library returns for the card. If an id only looks like a card number, change its number of digits, or put a letter between the digits.",
		},
		{
			code: "rate-limited", status: 429, newKey: unsafe, retryable: true, wait: time.Second,
			meaning: "Too many requests arrived in a short time, or too many requests with one status token or of one user wait at the same time.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
	}
}

func failureKinds() []kind {
	return []kind{
		{
			code: "internal", status: 500, newKey: unsafe, retryable: true,
			meaning: "An error occurred in paylatch; the request did not cause it. The log has the error with the request's id.",
			detail:  "Send the same request again with the same key. If that does not help, tell the operator the `request_id`.",
		},
		{
			code: "authentication-unavailable", status: 503, newKey: unsafe, retryable: true, wait: 5 * time.Second,
			meaning: "The token can't be checked at the moment, because the issuer's keys can't be fetched. Nothing was begun.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
		{
			code: "storage-unavailable", status: 503, newKey: unsafe, retryable: true, wait: 2 * time.Second,
			meaning: "The database can't be reached, did not respond in time, or lacks migrations or privileges. paylatch began nothing that is not stored.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
		{
			code: "reconciliation-required", status: 503, newKey: unsafe, retryable: true, wait: time.Minute,
			meaning: "The database was restored, and may have lost payments and refunds. New payments and refunds wait until the database is reconciled with the providers' books: a refund waits for its own account, a payment for all accounts.",
			detail:  "Nothing was begun. Wait for the time in Retry-After, then send the same request again with the same key. The operator ends the wait with the command `paylatch reconcile`.",
		},
		{
			code: "account-paused", status: 503, newKey: safe, retryable: true, wait: time.Minute,
			meaning: "The operator has paused new payments of this account (`enabled: webhooks` in its configuration). Payments that have begun continue.",
			detail:  "Nothing was begun. Use another account with a new key, or wait for the time in Retry-After and send the same request again with the same key.",
		},
		{
			code: "overloaded", status: 503, newKey: unsafe, retryable: true, wait: time.Second,
			meaning: "More requests arrive than paylatch can process at the moment.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
	}
}

func keyKinds() []kind {
	return []kind{
		{
			code: "idempotency-key-missing", status: 400, newKey: safe,
			meaning: "Every command needs a key of its own. The key ensures that the command is executed once, even if it is sent several times.",
			detail:  "Send the header Idempotency-Key with a new random value for each command, and with the same value when you repeat the command.",
		},
		{
			code: "idempotency-key-invalid", status: 400, newKey: safe,
			meaning: "The key is not 8 to 200 characters of A-Z a-z 0-9 - _ . : ~, bare or in double quotes, or it was sent more than once.",
			detail:  "Send one Idempotency-Key of 8 to 200 characters of A-Z a-z 0-9 - _ . : ~; a UUID is fine.",
		},
		{
			code: "idempotency-key-in-query", status: 400, newKey: safe,
			meaning: "The key was in the query string, which logs and browser histories store.",
			detail:  "Send the key in the header Idempotency-Key and nowhere else.",
		},
		{
			code: "idempotency-key-reused", status: 409, newKey: unsafe,
			meaning: "This key was used for another request. The other request is not affected.",
			detail:  "If this is a new command, send it with a new key. If it repeats the first request, send that request unchanged.",
		},
		{
			code: "request-in-progress", status: 409, newKey: unsafe, retryable: true, wait: time.Second,
			meaning: "The same command, or another one on the same order or attempt, is still under way.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
		{
			code: "quota-exceeded", status: 429, newKey: safe, retryable: true,
			meaning: "Commands for this user were sent with more new idempotency keys than the quota allows. A repeated request does not count.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
	}
}

// methodKinds returns the errors about the payment method and the account.
func methodKinds() []kind {
	return []kind{
		{
			code: "account-not-offered", status: 403, newKey: safe,
			meaning: "A customer's token named an account that the configuration does not offer to customers. A corrected request may have the same key.",
			detail:  "Leave out `account` to pay with the default account, or let the shop's backend send the payment.",
		},
		{
			code: "stored-payment-method", status: 422, newKey: safe,
			meaning: "The token belongs to a payment method that the provider stores. Anybody who knows the token could charge it, so paylatch accepts it only from the merchant's backend, with `payment_method.stored: true`.",
			detail:  "Let the backend pay with `payment_method.stored: true` and the customer's own reference, or use a token that the customer has just given.",
		},
		{
			code: "payment-method-removed", status: 422, newKey: safe,
			meaning: "The provider has reported that this stored payment method was removed, or can't be charged any more. The provider was not called, and nothing was charged. A request with another payment method may have the same key.",
			detail:  "Don't offer this payment method any more. Let the customer pay with another payment method, and store the new one.",
		},
		{
			code: "payment-method-not-yours", status: 403, newKey: safe,
			meaning: "The provider has no stored payment method with this token, or the payment method does not belong to the customer in `customer.reference`. Nothing was charged.",
			detail:  "Send the provider's reference of the customer as `customer.reference`, and the token of one of that customer's stored payment methods.",
		},
		{
			code: "provider-unavailable", status: 503, newKey: unsafe, retryable: true, wait: 2 * time.Second,
			meaning: "paylatch must ask the provider which customer owns the stored payment method, and the provider does not respond. Nothing was begun.",
			detail:  "Wait for the time in Retry-After, then send the same request again with the same key.",
		},
	}
}

func paymentKinds() []kind {
	return []kind{
		{
			code: "order-exists", status: 409, newKey: safe, executed: true,
			meaning: "Another order has this id. It has other content or belongs to another user.",
			detail:  "Choose another `order_id`, or leave it out to get a new one.",
		},
		{
			code: "order-already-paid", status: 409, newKey: unsafe, executed: true,
			meaning: "The order is paid. Or a failed attempt holds money after all, in any currency. The member `attempt` then shows this attempt, and the shop should tell the customer: " +
				payment.LateMoneyText + " In both cases the order is not charged twice.",
			detail: "Read the order and show it as paid.",
		},
		{
			code: "order-cancelled", status: 409, newKey: safe, executed: true,
			meaning: "The order is cancelled or is being cancelled.",
			detail:  "Create a new order.",
		},
		{
			code: "payment-in-progress", status: 409, newKey: unsafe,
			meaning: "Another payment of this order is under way, perhaps in another window. Or the provider may still hold money for a " +
				"failed payment; then send the same request again later. The member `attempt` shows this payment. The same " +
				"key may be used again.",
			detail: "Follow the attempt that `attempt` shows, and pay again only if this attempt fails.",
		},
		{
			code: "order-changed", status: 412, newKey: safe,
			meaning: "The order's version differs from `expected_version`: the order was amended, or a payment of the order changed, after you read the order. Nothing was changed.",
			detail:  "Read the order again. If you still want the change, send the request with the order's present version as `expected_version`.",
		},
		{
			code: "attempt-final", status: 409, newKey: safe, executed: true,
			meaning: "The attempt has succeeded or failed. This result is final.",
			detail:  "Read the attempt. To return money to the customer, refund it.",
		},
		{
			code: "attempt-not-completable", status: 409, newKey: safe,
			meaning: "The attempt can't be completed. It does not wait for the customer, or its provider accepts no details after the pay request.",
			detail:  "Read the attempt, and do the next step of its stage.",
		},
		{
			code: "attempt-not-capturable", status: 409, newKey: safe,
			meaning: "There is no authorised money to capture. The attempt is not authorised yet, is no longer authorised, or its hold is used up.",
			detail:  "Read the attempt and confirm it when its stage is `authorized`.",
		},
		{
			code: "capture-exceeds-authorization", status: 409, newKey: safe, executed: true,
			meaning: "The amount to capture is larger than the authorised amount.",
			detail:  "Confirm with a smaller amount and a new key.",
		},
		{
			code: "attempt-not-refundable", status: 409, newKey: safe,
			meaning: "The attempt holds no money that can be refunded.",
			detail:  "Read the attempt. You can refund it once it has captured money.",
		},
		{
			code: "refund-exceeds-payment", status: 409, newKey: safe, executed: true,
			meaning: "The amount is larger than the refundable amount. Refunds under way reduce the refundable amount.",
			detail:  "Read the attempt and refund at most the refundable amount, with a new key.",
		},
		{
			code: "cursor-expired", status: 410, newKey: safe,
			meaning: "Events after this cursor were deleted before you read them. Or, if the response has `restart_after`, the database was restored to a time before the cursor.",
			detail:  "Compare your data with the orders that have changed since then. Then read without the parameter `after`, from the oldest event. If the response has `restart_after`, continue from there instead.",
		},
		{
			code: "dispute-open", status: 409, newKey: safe,
			meaning: "A dispute of this payment is open. The bank may return the same money to the customer, and a refund would then be a second payment to the customer.",
			detail:  "Read the dispute. To refund the money nevertheless, send `acknowledge_dispute: true` with a new key.",
		},
		{
			code: "payment-ambiguous", status: 409, newKey: safe,
			meaning: "Several payments of this attempt hold money, or several captures that the provider refunds one by one.",
			detail:  "Send the provider's id of the payment, or of the capture, as `provider_payment_id`.",
		},
		{
			code: "refundable-changed", status: 412, newKey: safe,
			meaning: "The refundable amount differs from `expected_refundable`: somebody else has made a refund in the meantime.",
			detail:  "Read the attempt, and decide again how much to refund.",
		},
	}
}

func webhookKinds() []kind {
	return []kind{
		{
			code: "unknown-account", status: 404, newKey: safe,
			meaning: "No account with this name receives webhooks.",
			detail:  "Check the address that is registered at the provider against the configured accounts.",
		},
		{
			code: "webhooks-paused", status: 503, newKey: unsafe, retryable: true, wait: time.Minute,
			meaning: "The operator has paused the webhooks of this account (`enabled: pays` in its configuration). The delivery was not stored.",
			detail:  "Wait for the time in Retry-After, then send the delivery again. To accept webhooks again, the operator sets `enabled: all` or leaves `enabled` out.",
		},
		{
			code: "webhook-signature-missing", status: 401, newKey: safe,
			meaning: "The delivery has no signature. It was not stored.",
			detail:  "Send the delivery as the provider signs it.",
		},
		{
			code: "webhook-signature-malformed", status: 400, newKey: safe,
			meaning: "The header or field with the signature does not have the form that the provider documents. The delivery was not stored.",
			detail:  "Check that the account has the right kind, and that no proxy changes headers.",
		},
		{
			code: "webhook-signature-invalid", status: 401, newKey: safe,
			meaning: "No configured secret produces this signature for exactly this body. The delivery was not processed. paylatch keeps it encrypted for a day, and verifies it again if the account's secrets change.",
			detail:  "Check the account's secrets, and that no proxy changes the body.",
		},
		{
			code: "webhook-too-old", status: 400, newKey: safe,
			meaning: "The delivery's signature is older than the provider's tolerance allows. The delivery was not stored.",
			detail:  "Send the delivery again with a new signature, and check the clocks.",
		},
		{
			code: "webhook-replayed", status: 400, newKey: safe,
			meaning: "An earlier delivery had this id and another body. The provider's signature covers only a checksum of the body, so somebody made this body fit the earlier signature. The delivery was not stored.",
			detail:  "Send the delivery again with a new id and a new signature.",
		},
		{
			code: "webhook-too-new", status: 400, newKey: safe,
			meaning: "The time of the delivery's signature is in the future. The delivery was not stored.",
			detail:  "Check the clocks on both sides.",
		},
		{
			code: "webhook-sender-refused", status: 403, newKey: safe,
			meaning: "The sender's address is not an address of the provider, or is not in the account's `allowed_ips`. The delivery was not stored.",
			detail:  "Check `allowed_ips` and the trusted proxies in the configuration.",
		},
		{
			code: "webhook-payload-invalid", status: 400, newKey: safe,
			meaning: "The body does not have the form that the provider documents. The delivery was not stored.",
			detail:  "Check that the account has the right kind.",
		},
		{
			code: "webhook-verification-unavailable", status: 503, newKey: unsafe, retryable: true, wait: 30 * time.Second,
			meaning: "The signature can't be checked at the moment, because a certificate can't be fetched. The sender was neither accepted nor rejected.",
			detail:  "Send the same delivery again.",
		},
	}
}
