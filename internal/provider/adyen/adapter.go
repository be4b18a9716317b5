package adyen

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		RefundTime:     refundTime(),
		DisputeReasons: kit.CardReasons(),
		Keys:           []webhooks.Key{kit.APIKey(), {Name: "merchant_account", Doc: "Adyen's merchant account"}},
		Payees:         func(params map[string]string) []string { return []string{params["merchant_account"]} },
		Merchant:       kit.Merchant{Keys: []string{"merchant_account"}},
		TestHosts:      []string{"checkout-test.adyen.com", "pal-test.adyen.com"},
		TestByDefault:  true,
		Carries:        carries(), ProviderData: providerData(), Further: further(),
		// A new merchant account captures at once (https://docs.adyen.com/online-payments/capture/).
		Trial: kit.Trial{
			Params: map[string]string{"capture": "automatic"}, Page: `{"type":"ideal"}`,
			ByHand: "choose the successful result on Adyen's test page of iDEAL, which the merchant account must offer",
		},
		Statement:  Statement,
		SecondStep: "the result of Adyen's component (`state.data`, or the `details` in it), or the parameters of the return to the return_url: `{\"redirectResult\":\"…\"}`",
		New: func(s kit.Settings) (gateway.Provider, error) {
			return New(Account{
				Base: s.BaseURL, Key: s.Params["api_key"], Merchant: s.Params["merchant_account"], Capture: s.Params["capture"],
			}, s.Client), nil
		},
	}
}

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	return []kit.Carried{
		{Member: "payment_method.type", As: "paymentMethod.type", When: "of a stored payment method; else the token has it"},
		{Member: "return_url", As: "returnUrl", When: "required, also with a stored payment method; at most 1,024 characters; only the test environment accepts a payment without it", ToApps: true}, // "For iOS, use the custom URL for your app" (checkout v72)
		{Member: "save_payment_method", As: "storePaymentMethod", When: "needs `customer.reference`"},
		{Member: "initiator", As: "recurringProcessingModel", When: "UnscheduledCardOnFile for the merchant, CardOnFile for the customer"},
		{Member: "statement_descriptor", As: "shopperStatement"},
		{Member: "customer.reference", As: "shopperReference", When: "at least three characters"},
		{Member: "customer.email", As: "shopperEmail"},
		{Member: "customer.name", As: "shopperName.lastName", When: "with a blank, between the first and the last name"},
		{Member: "customer.phone", As: "telephoneNumber"},
		{Member: "customer.ip", As: "shopperIP"},
		{Member: "customer.locale", As: "shopperLocale"},
		{Member: "customer.billing_address", As: "billingAddress.street", When: "with a street and a city"},
		{Member: "customer.shipping_address", As: "deliveryAddress.street", When: "with a street and a city"},
		{Member: "browser", As: "browserInfo.userAgent", When: "with an accept_header; origin is one of provider_data"},
		{Member: "lines", As: "lineItems[].description", When: "required for Klarna, Afterpay, Clearpay, Affirm, Oney, Ratepay and Riverty"},
	}
}

// dashboard returns the address that Adyen's Magento plugin uses for a payment (getPspReferenceSearchUrl,
// https://github.com/Adyen/adyen-magento2).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://ca-live.adyen.com/ca/ca/accounts/showTx.shtml?pspReference={id}&txType=Payment",
		Test: "https://ca-test.adyen.com/ca/ca/accounts/showTx.shtml?pspReference={id}&txType=Payment",
		Form: regexp.MustCompile(`^[A-Z0-9]{16}$`),
	}
}
