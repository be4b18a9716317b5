package paypal

import (
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		RefundTime:     refundTime(),
		DisputeReasons: disputeReasons(),
		Absent:         "00000000000000000",
		Keys: append(kit.OAuth(),
			kit.MerchantID(true),
			webhooks.Key{
				Name: "payee_email", Optional: true, With: "merchant_id",
				Doc: "PayPal: the account's e-mail address besides its `merchant_id`, for orders that name the payee only by it",
			},
		),
		Payees:    payees,
		Merchant:  kit.Merchant{Keys: []string{"merchant_id"}, Else: []string{"client_id"}},
		TestHosts: []string{"sandbox.paypal.com"},
		Carries:   carries(), ProviderData: providerData(), Further: further(),
		Trial: kit.Trial{
			BaseURL: "https://api-m.sandbox.paypal.com", Page: "paypal",
			ByHand: "approve the payment as a buyer of PayPal's sandbox",
		},
		SecondStep: "any object, such as `{}`, after the customer has approved the order on PayPal's page or in its script: paylatch then captures or authorizes the order, unless 3-D Secure has failed; the details are not sent",
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Marks:  gateway.MarksByBrowser,
		Books:  func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Events: func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil },
		Lag:    booksLag, Overlap: completedLater,
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["client_id"], s.Params["client_secret"], s.Client, s.Now)
}

// payees returns the configured names of the account.
func payees(params map[string]string) []string {
	return slices.DeleteFunc([]string{params["merchant_id"], params["payee_email"]}, func(id string) bool { return id == "" })
}

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	wallet := "of the wallet (`paypal`)"
	return []kit.Carried{
		{Member: "return_url", As: "payment_source.paypal.experience_context.return_url", When: "also where the customer cancels"},
		{Member: "save_payment_method", As: "payment_source.paypal.attributes.vault.store_in_vault", When: wallet},
		{Member: "initiator", As: "payment_source.card.stored_credential.payment_initiator", When: "of a card in the vault"},
		{Member: "statement_descriptor", As: "purchase_units[].soft_descriptor"},
		{Member: "customer.reference", As: "payment_source.paypal.attributes.customer.merchant_customer_id", When: "with save_payment_method; at most 64 characters"},
		{Member: "customer.email", As: "payment_source.paypal.email_address", When: wallet},
		{Member: "customer.name", As: "payment_source.paypal.name.surname", When: wallet},
		{Member: "customer.name", As: "purchase_units[].shipping.name.full_name", When: "with a shipping address"},
		{Member: "customer.locale", As: "payment_source.paypal.experience_context.locale", When: "with a return_url, as language-COUNTRY"},
		{Member: "customer.billing_address", As: "payment_source.paypal.address.address_line_1", When: wallet},
		{Member: "customer.shipping_address", As: "purchase_units[].shipping.address.address_line_1"},
		{Member: "lines", As: "purchase_units[].items[].name", When: "with taxes within the prices; shipping and discounts as sums"},
	}
}

// dashboard returns the address that PayPal's WooCommerce plugin uses for a capture's id (TransactionUrlProvider,
// https://github.com/woocommerce/woocommerce-paypal-payments).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live:      "https://www.paypal.com/activity/payment/{id}",
		Test:      "https://www.sandbox.paypal.com/activity/payment/{id}",
		Form:      regexp.MustCompile(`^[A-Z0-9]{17}$`),
		OfCapture: true,
	}
}
