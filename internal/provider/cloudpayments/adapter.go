package cloudpayments

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys: []webhooks.Key{
			{Name: "public_id", Doc: "CloudPayments' public id"},
			webhooks.SecretsKey(),
			{Name: "taxation_system", Optional: true, Doc: "CloudPayments: the shop's tax system for fiscal receipts, 0 to 5; absent: the cash register's"},
		},
		Absent:  "99",
		TestKey: "public_id", TestForm: regexp.MustCompile(`^test_api_`),
		Trial:   kit.Trial{Page: "redirect", Currency: "RUB", ByHand: "pay with one of CloudPayments' test cards"},
		Carries: carried(), ProviderData: allowed(),
		SecondStep: "`MD` and `PaRes`, which the bank of a card with 3-D Secure posts to `return_url`",
		New: func(s kit.Settings) (gateway.Provider, error) {
			c := of(s)
			var err error
			c.Taxation, err = taxation(s.Params["taxation_system"])
			return c, err
		},
		Payees:   kit.PayeesOf("public_id"),
		Merchant: kit.Merchant{Keys: []string{"public_id"}},
		Marks:    gateway.MarksByBrowser,
		Books:    func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["public_id"], s.Params["webhook_secret"], s.Client)
}

// maxTaxation is the highest number of a tax system. The numbers begin with 0.
const maxTaxation = 5

func taxation(text string) (*int, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no tax system is configured
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxTaxation {
		return nil, fmt.Errorf("%w: taxation_system must be from 0 to %d", webhooks.ErrConfig, maxTaxation)
	}
	return &n, nil
}

func carried() []kit.Carried {
	const crypto, receipts, at = "with a cryptogram", "with a receipt", "JsonData.cloudPayments.customerReceipt."
	return []kit.Carried{
		{Member: "save_payment_method", As: "SaveCard", When: crypto},
		{Member: "initiator", As: "PaymentScheduled", When: "merchant: 0, unless provider_data has it, with TrInitiatorCode 0"},
		{Member: "return_url", As: "SuccessRedirectUrl", When: "on the page and with an app, which requires it with " + tPay + "; with 3-D Secure it becomes TermUrl of the form, and is required for a cryptogram"},
		{Member: "customer.reference", As: "AccountId"},
		{Member: "customer.email", As: "Email"},
		{Member: "customer.name", As: "Name", When: crypto},
		{Member: "customer.phone", As: "Phone", When: "on the page; as Payer.Phone with a cryptogram, and in a receipt"},
		{Member: "customer.ip", As: "IpAddress", When: "with a token, an app or a cryptogram, which requires it"},
		{Member: "browser", As: "Device", When: "with an app; as Os and Browser, too; " + tPay + " and " + sberPay + " require it"},
		{Member: "customer.locale", As: "CultureName", When: "Russian or English; not with a token"},
		{Member: "customer.billing_address", As: "Payer.Address", When: crypto},
		{Member: "lines", As: at + "Items", When: receipts},
		{Member: "lines.receipt", As: at + "Items[].vat"},
	}
}
