package render

func supportKinds() []kind {
	return []kind{
		{
			code: "discrepancy-already-resolved", status: 409,
			meaning: "The discrepancy was resolved before, in another way. What was decided stays.",
			detail:  "Read the discrepancy to see who resolved it, how and why.",
		},
		{
			code: "discrepancy-assigned", status: 409,
			meaning: "The discrepancy is assigned to another person than the request expects. Without expected_assignee only what is unassigned, or the caller's own, is assigned.",
			detail:  "Read the discrepancy; to take it over, send expected_assignee with its assignee, or null where it has none.",
		},
		{
			code: "attempt-not-pending", status: 409,
			meaning: "Paid and not_paid move a pending attempt, or the pending refund that is asked about. This discrepancy's is final, or it has none.",
			detail:  "Read the attempt and its refunds; resolve the discrepancy as accepted or refunded_elsewhere, or refund the money.",
		},
		{
			code: "attempt-holds-money", status: 409,
			meaning: "The provider says that it took money for this attempt, so it can't be called not paid.",
			detail:  "Refund the money first, or resolve the discrepancy as paid.",
		},
		{
			code: "event-unreadable", status: 409,
			meaning: "What is stored of the event has a form that this version can't read. Its bytes are kept as they came.",
			detail:  "Read the event's bytes, compare with the provider's dashboard, and replay it with a version that can read it.",
		},
		{
			code: "resolution-not-possible", status: 422,
			meaning: "The resolution would leave an attempt, a refund or money that nobody looks at any more; or the provider was asked about what is called paid, or would be freed for another move, and contradicts it.",
			detail:  "Read the discrepancy: its member resolutions says what it can be resolved as, and what each does.",
		},
		{
			code: "job-running", status: 409,
			meaning: "One act on many events, and one on many discrepancies, is under way at a time. Another one of this kind has not ended.",
			detail:  "Read that job and wait for its end, or stop it, and send the request again.",
		},
		{
			code: "second-person-needed", status: 409,
			meaning: "Nothing is decided about money on one person's word, so a second person has to agree: to a resolution for which the provider can't be asked, to a payment that bears no mark of ours or is of another amount, to how a discrepancy is closed that your own resolution opened, or to a refund that you asked for. People who came in by different doors (the console, an issuer of tokens, HS256) count as one person, unless both doors name people by the same claim.",
			detail:  "Have another member of the staff look: it takes the same resolution with the same provider_payment_id, a resolution by another person than the one that opened it, or an admin's approval of the refund.",
		},
		{
			code: "refund-request-decided", status: 409,
			meaning: "The request for a refund was approved or declined before, in another way. What was decided stays.",
			detail:  "Read the request to see who decided it and why. If a refund is due all the same, ask for it anew.",
		},
		{
			code: "provider-payment-id-required", status: 422,
			meaning: "An attempt is called paid by the payment that a person found at the provider, a refund by the refund.",
			detail:  "Send provider_payment_id, as the provider's dashboard shows it.",
		},
		{
			code: "provider-payment-taken", status: 409,
			meaning: "The payment with this id pays for another attempt, or the refund with it is another one. One can't count twice.",
			detail:  "Search for the id to see what it belongs to, and look for this attempt's own payment, or for this refund, in the dashboard.",
		},
	}
}
