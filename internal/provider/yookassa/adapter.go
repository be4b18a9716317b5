package yookassa

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
		Absent: "00000000-0000-5000-8000-000000000000",
		Keys: []webhooks.Key{
			{Name: "shop_id", Doc: "YooKassa's shop"},
			kit.APIKey(),
			{Name: "tax_system_code", Optional: true, Doc: "YooKassa: the shop's tax system, 1 to 6, if the cash register for fiscal receipts needs it"},
		},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^test_`),
		Trial:   kit.Trial{Page: "redirect", Currency: "RUB", ByHand: "pay with one of YooKassa's test cards"},
		Carries: carried(), ProviderData: allowed(),
		New: func(s kit.Settings) (gateway.Provider, error) {
			c := of(s)
			var err error
			c.TaxSystem, err = taxSystem(s.Params["tax_system_code"])
			return c, err
		},
		Payees:   kit.PayeesOf("shop_id"),
		Merchant: kit.Merchant{Keys: []string{"shop_id"}},
		Books:    func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["shop_id"], s.Params["api_key"], s.Client)
}

// maxTaxSystem is the highest number of a tax system. The numbers begin with 1.
const maxTaxSystem = 6

func taxSystem(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxTaxSystem {
		return 0, fmt.Errorf("%w: tax_system_code must be from 1 to %d", webhooks.ErrConfig, maxTaxSystem)
	}
	return n, nil
}

func carried() []kit.Carried {
	const receipts = "with a receipt"
	return []kit.Carried{
		{Member: "payment_method.type", As: "payment_method_data.type", When: "with a token for a confirmation type"},
		{Member: "save_payment_method", As: "save_payment_method", When: "not for a stored method"},
		{Member: "return_url", As: "confirmation.return_url", When: "required for a method that is confirmed on YooKassa's page"},
		{Member: "customer.reference", As: "merchant_customer_id"},
		{Member: "customer.ip", As: "client_ip"},
		{Member: "customer.locale", As: "confirmation.locale", When: "Russian or English"},
		{Member: "customer.email", As: "receipt.customer.email", When: receipts + ", which needs the email or the telephone number"},
		{Member: "customer.phone", As: "receipt.customer.phone", When: receipts + "; and as payment_method_data.phone for cash, mobile_balance and SberPay by message"},
		{Member: "customer.name", As: "receipt.customer.full_name", When: receipts},
		{Member: "lines", As: "receipt.items", When: receipts},
		{Member: "lines.receipt", As: "receipt.items[].vat_code"},
	}
}
