package robokassa

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys: []webhooks.Key{
			{Name: "merchant_login", Doc: "Robokassa's shop"},
			{Name: "password1", Secret: true, Doc: "Robokassa's Password1, which signs links and captures"},
			webhooks.SecretsKey(),
			{Name: "password3", Optional: true, Secret: true, Doc: "Robokassa's Password3, which refunds need"},
			{Name: "taxation", Optional: true, Doc: "the shop's tax system for fiscal receipts: osn, usn_income, usn_income_outcome, esn or patent"},
			kit.TestPayments(),
		},
		Absent:  "9000000000000000000",
		TestKey: "test_payments", TestForm: regexp.MustCompile(`^true$`),
		Merchant: kit.Merchant{Keys: []string{"merchant_login"}},
		Carries:  carried(), ProviderData: allowed(),
		Trial: kit.Trial{
			Params: map[string]string{"test_payments": "true"}, Page: "redirect", Currency: "RUB",
			ByHand: "choose the successful result on Robokassa's test page",
		},
		New: func(s kit.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, Shop{
				Login: s.Params["merchant_login"], Password1: s.Params["password1"], Password2: s.Params["webhook_secret"], Password3: s.Params["password3"],
				Hash: s.Params["hash"], Currency: payment.Currency(s.Params["currency"]), Taxation: s.Params["taxation"],
				Test: s.Params["test_payments"] == "true",
			}, s.Client)
		},
	}
}

func carried() []kit.Carried {
	const receipts = "with a receipt"
	return []kit.Carried{
		{Member: "return_url", As: "SuccessUrl2", When: "and as FailUrl2"},
		{Member: "customer.email", As: "Email", When: receipts},
		{Member: "customer.locale", As: "Culture", When: "Russian or English"},
		{Member: "lines", As: "Receipt", When: receipts + "; a form then takes the customer to the page"},
		{Member: "lines.receipt", As: "Receipt"},
	}
}
