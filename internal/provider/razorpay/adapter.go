package razorpay

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
		DisputeReasons: disputeReasons(),
		Absent:         "pay_00000000000000",
		Keys: []webhooks.Key{{Name: "key_id", Doc: "Razorpay's key"}, {Name: "key_secret", Secret: true, Doc: "Razorpay's secret"}, {
			Name: "account_id", Optional: true, Doc: "Razorpay: the account's id (`acc_…`); paylatch does not count payments to another account",
		}},
		Payees: func(params map[string]string) []string {
			if params["account_id"] == "" {
				return nil
			}
			return []string{params["account_id"]}
		},
		Merchant: kit.Merchant{Keys: []string{"account_id"}},
		TestKey:  "key_id", TestForm: regexp.MustCompile(`^rzp_test_`),
		Trial:   kit.Trial{Page: "redirect", Currency: "INR", ByHand: "pay with one of Razorpay's test cards or test UPI ids"},
		Carries: carried(), ProviderData: allowed(),
		SecondStep: "`razorpay_order_id`, `razorpay_payment_id` and `razorpay_signature`, which Razorpay's script returns for the token checkout",
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Marks: gateway.MarksByBrowser,
		Books: func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["key_id"], s.Params["key_secret"], s.Client)
}

func carried() []kit.Carried {
	const link, prefilled = "with a link's page", "with a link's page; with the token checkout the script fills it in (next_action)"
	return []kit.Carried{
		{Member: "return_url", As: "callback_url", When: link},
		{Member: "customer.name", As: "customer.name", When: prefilled},
		{Member: "customer.email", As: "customer.email", When: prefilled},
		{Member: "customer.phone", As: "customer.contact", When: prefilled},
		{Member: "customer.ip", As: "ip", When: "with the token " + intent + "; so are email and contact, which it requires"},
		{Member: "browser", As: "user_agent", When: "with the token " + intent},
	}
}

// dashboard returns the dashboard's address of a payment (https://razorpay.com/docs/payments/payments/dashboard/). A
// user switches to the test mode there.
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://dashboard.razorpay.com/app/payments/{id}",
		Test: "https://dashboard.razorpay.com/app/payments/{id}",
		Form: regexp.MustCompile(`^pay_[A-Za-z0-9]+$`),
	}
}
