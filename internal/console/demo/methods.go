package demo

// method is a token of the sandbox provider, in the customer's words.
type method struct{ token, text string }

func methods() []method {
	return []method{
		{"tok_async_success", "Takes the money after a moment"},
		{"tok_success", "Takes the money at once"},
		{"tok_redirect", "Asks you on its own page"},
		{"tok_3ds", "Wants proof of you on its own page"},
		{"tok_3ds_sdk", "Wants proof of you in its own window"},
		{"tok_voucher", "Gives you a voucher to pay at a till"},
		{"tok_decline", "Declines the card"},
		{"tok_hang_charged", "Takes the money and never answers"},
		{"tok_hang_not_charged", "Never answers at first, then takes the money"},
		{"tok_500_charged", "Takes the money and answers with an error"},
		{"tok_500_once", "Answers with an error and takes nothing at first"},
		{"tok_twice", "Tells us three times"},
		{"tok_never", "Never decides"},
		{"tok_late_success", "Declines, and takes the money a second later"},
	}
}
