// Package tbank verifies and makes notifications of T-Bank acquiring. The member Token of the body is the hex of a
// SHA-256 over the values of the root's texts, numbers and booleans and of Password, sorted by name and joined
// (https://www.tbank.ru/kassa/dev/payments/, "Token"). Objects and lists, such as DATA and Receipt, are not covered,
// and nothing in them is read.
package tbank

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "T-Bank (Tinkoff)",
		Header:       "the body's Token (SHA-256 over the sorted root values and the password)",
		EventID:      "derived: PaymentId, Status, Amount; one for each arrival if the payment is looked up",
		Ack:          "200 with the body OK, within 10 s",
		RetryHorizon: "hourly for 24 hours; then none, or daily for a month (the bank's pages contradict each other)",
		Methods:      "none",
		Reviews:      "none",
		Keys: []webhooks.Key{
			webhooks.SecretsKey(),
			{Name: "terminal_key", Optional: true, Doc: "T-Bank's terminal"},
			webhooks.CurrencyKey(),
		},
		Quirks: []string{
			"A payment is a PaymentId, with all tries on its page; an OrderId may have several.",
			"AUTH_FAIL is a failed try on the bank's page. As far as we remember, the page then allows another try. REJECTED is final.",
			"The amount of a partial refund or reversal is not documented, so paylatch looks up the payment.",
			"Documented senders, for allowed_ips: 91.194.226.0/23, 91.218.132.0/22, 212.49.24.0/24, 212.233.80.0/22.",
		},
		Setup: []string{
			"T-Business, Internet acquiring, the shop, Terminals: choose the terminal.",
			"Set its notifications to HTTP with the address of the account's endpoint.",
			"Copy TerminalKey into terminal_key and the password into webhook_secrets.",
			"Pay with a test card on the DEMO terminal and look for the event.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "OrderId",
			Doc:   "Put it into OrderId of Init, which takes up to 36 characters (https://www.tbank.ru/kassa/dev/payments/). The unsigned DATA are not read.",
		},
	}
}
