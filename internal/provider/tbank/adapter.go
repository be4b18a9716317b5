package tbank

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys: []webhooks.Key{
			{Name: "terminal_key", Doc: "T-Bank's terminal"},
			webhooks.SecretsKey(),
			{Name: "taxation", Optional: true, Doc: "the shop's tax system for fiscal receipts: osn, usn_income, usn_income_outcome, esn or patent"},
		},
		Absent:  "9999999",
		TestKey: "terminal_key", TestForm: regexp.MustCompile(`DEMO$`),
		TestHosts: []string{"rest-api-test.tinkoff.ru"},
		Trial:     kit.Trial{Page: "redirect", Currency: "RUB", ByHand: "pay with one of T-Bank's test cards of the DEMO terminal"},
		Carries:   carried(), ProviderData: allowed(),
		New: func(s kit.Settings) (gateway.Provider, error) {
			c, err := New(s.BaseURL, s.Params["terminal_key"], s.Params["webhook_secret"], s.Params["currency"], s.Client)
			if err != nil {
				return nil, err
			}
			c.Taxation = s.Params["taxation"]
			return c, known(c.Taxation)
		},
		Payees:    kit.PayeesOf("terminal_key"),
		Merchant:  kit.Merchant{Keys: []string{"terminal_key"}},
		Marks:     gateway.MarksByBrowser,
		Statement: Statement,
	}
}

func known(taxation string) error {
	if taxation != "" && !slices.Contains([]string{"osn", "usn_income", "usn_income_outcome", "esn", "patent"}, taxation) {
		return fmt.Errorf("%w: taxation %q is not a value of T-Bank's", webhooks.ErrConfig, taxation)
	}
	return nil
}

func carried() []kit.Carried {
	const receipts, page = "with a receipt", "on the bank's page"
	return []kit.Carried{
		{Member: "save_payment_method", As: "Recurrent", When: page + ", with OperationInitiatorType 1"},
		{Member: "return_url", As: "SuccessURL", When: page + "; and as FailURL"},
		{Member: "customer.reference", As: "CustomerKey", When: "to save a card, which requires it"},
		{Member: "customer.email", As: "DATA.Email", When: "and in a receipt, which needs the email or the telephone number"},
		{Member: "customer.phone", As: "DATA.Phone", When: "and in a receipt"},
		{Member: "browser", As: "DATA.Device", When: "with " + tPay + " and " + sberPay + ", which requires it: Mobile or Desktop by the user agent"},
		{Member: "customer.ip", As: "IP", When: "with a saved card"},
		{Member: "customer.locale", As: "Language", When: "Russian or English"},
		{Member: "lines", As: "Receipt.Items", When: receipts},
		{Member: "lines.receipt", As: "Receipt.Items[].Tax"},
	}
}
