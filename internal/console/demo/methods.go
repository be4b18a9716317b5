package demo

// method is a token of the sandbox provider, in the customer's words.
type method struct{ token, text string }

func methods() []method {
	return []method{
		{"tok_async_success", "Takes the money after a moment"},
		{"tok_success", "Takes the money at once"},
		{"tok_redirect", "Asks you to confirm on the provider's page"},
		{"tok_3ds", "Asks you to prove your identity on the provider's page"},
		{"tok_3ds_sdk", "Asks you to prove your identity in the provider's window"},
		{"tok_voucher", "Gives you a voucher to pay at a till"},
		{"tok_decline", "Declines the card"},
		{"tok_hang_charged", "Takes the money and does not answer"},
		{"tok_hang_not_charged", "Does not answer the first call, and takes the money at the second"},
		{"tok_500_charged", "Takes the money and answers with an error"},
		{"tok_500_once", "Answers the first call with an error, and takes the money at the second"},
		{"tok_twice", "Sends each webhook three times"},
		{"tok_never", "Never decides"},
		{"tok_late_success", "Declines, and takes the money a second later"},
	}
}
