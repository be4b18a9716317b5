package render

func supportKinds() []kind {
	return []kind{
		{
			code: "discrepancy-already-resolved", status: 409, newKey: safe,
			meaning: "The discrepancy was already resolved in another way. That resolution stays.",
			detail:  "Read the discrepancy to see who resolved it, how and why.",
		},
		{
			code: "discrepancy-assigned", status: 409, newKey: safe,
			meaning: "The discrepancy's assignee differs from `expected_assignee`. Without `expected_assignee`, a caller can assign only a discrepancy that is unassigned or assigned to the caller.",
			detail:  "Read the discrepancy. To take it over, send its assignee as `expected_assignee`, or `null` if it is unassigned.",
		},
		{
			code: "attempt-not-pending", status: 409, newKey: safe,
			meaning: "The resolutions `paid` and `not_paid` need a pending attempt or refund. The attempt or refund of this discrepancy is final, or the discrepancy has none.",
			detail:  "Read the attempt, its refunds and the discrepancy. `resolutions` of the discrepancy lists the possible resolutions with their effects.",
		},
		{
			code: "attempt-holds-money", status: 409, newKey: safe,
			meaning: "The provider reports that it captured money for this attempt, so the discrepancy can't be resolved as `not_paid`.",
			detail:  "Refund the money first, or resolve the discrepancy as `paid`.",
		},
		{
			code: "event-unreadable", status: 409, newKey: safe,
			meaning: "The stored event has a format that this version can't read. Its bytes are kept unchanged.",
			detail:  "Read the event's bytes and compare them with the provider's dashboard. Replay the event with a version that can read it.",
		},
		{
			code: "resolution-not-possible", status: 422, newKey: safe,
			meaning: "The resolution would leave an attempt, a refund or money without further checks. Or paylatch asked the provider, and the provider contradicts the resolution: it reports another result for a payment that the resolution calls `paid`, or that the resolution would release for another operation.",
			detail:  "Read the discrepancy. Its member `resolutions` lists the possible resolutions and their effects.",
		},
		{
			code: "job-running", status: 409, newKey: unsafe,
			meaning: "At most one bulk job on events and one bulk job on discrepancies can run at a time. A job of this kind is still running.",
			detail:  "Read that job. Wait for its end or stop it, then send the request again.",
		},
		{
			code: "second-person-needed", status: 409, newKey: unsafe,
			meaning: "One person alone can't decide about money, so a second person must agree. This holds for a resolution that paylatch can't check at the provider, a payment that has no mark of paylatch or has another amount, a discrepancy that your own resolution opened, and a refund that you requested. People who signed in by different ways (the console, an issuer of tokens, HS256) count as one person, unless both ways name people by the same claim.",
			detail:  "Ask another member of the staff. For a proposed resolution, the other person sends the same resolution with the same `provider_payment_id`. If your resolution opened the discrepancy, the other person resolves it. For a refund, an admin approves the request.",
		},
		{
			code: "refund-request-decided", status: 409, newKey: unsafe,
			meaning: "The refund request was already decided in another way. That decision stays.",
			detail:  "Read the refund request to see who decided it and why. If a refund is still due, request it again.",
		},
		{
			code: "provider-payment-id-required", status: 422, newKey: safe,
			meaning: "The resolution `paid` requires the provider's id of the payment, or of the refund if the discrepancy is about a refund. A person finds the id in the provider's dashboard.",
			detail:  "Send `provider_payment_id`, as the provider's dashboard shows it.",
		},
		{
			code: "provider-payment-taken", status: 409, newKey: safe,
			meaning: "The payment with this id belongs to another attempt, or the refund with this id is already recorded as another refund. A payment or refund can't count twice.",
			detail:  "Search for the id to see its attempt or refund. Then find this attempt's payment, or this refund, in the provider's dashboard.",
		},
	}
}
