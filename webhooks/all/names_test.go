package all_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
)

// descriptionNames are the names of events or statuses in a provider's description, and a body with each. The last element of
// a path may be a pattern; a path to an object means the object's members.
type descriptionNames struct {
	kind, file, names string
	body              func(name string) string
	// unread are the names that are read as an unknown name is, or patterns of them, with the reason.
	unread map[string]string
}

const (
	noPayment = "about no payment"
	underWay  = "nothing is decided: the outcome has an event of its own"
	notMade   = "of a modification or a method that is never asked for here"
	stored    = "because the payment itself reports a stored method"
	noMoney   = "informs, and moves neither money nor the dispute"
)

func describedNames() map[string]descriptionNames {
	const money = `"amount_money":{"amount":500,"currency":"EUR"}`
	payPalDispute := func(members string) string {
		return `{"id":"WH-1","event_type":"CUSTOMER.DISPUTE.RESOLVED","resource":{"dispute_id":"D1","dispute_amount":{"currency_code":"EUR","value":"5.00"},` + members + `}}`
	}
	payPalStatus := func(event string) func(string) string {
		return func(name string) string {
			return `{"id":"WH-1","event_type":"` + event + `","resource":{"id":"1","status":"` + name + `","amount":{"currency_code":"EUR","value":"5.00"}}}`
		}
	}
	return map[string]descriptionNames{
		"Adyen's events": {"adyen", "adyen-webhooks-v1.json", "webhooks", func(name string) string {
			return `{"live":"false","notificationItems":[{"NotificationRequestItem":{"eventCode":"` + name + `","pspReference":"P1","originalReference":"P0",` +
				`"merchantReference":"A1","success":"true","amount":{"currency":"EUR","value":500}}}]}`
		}, map[string]string{
			"ACH_NOTIFICATION_OF_CHANGE": noPayment, "DIRECT_DEBIT_NOTICE_OF_CHANGE_NOTIFICATION": noPayment, "RECURRING_CONTRACT": noPayment,
			"REPORT_AVAILABLE": noPayment, "PAYOUT_*": noPayment, "PAIDOUT_REVERSED": noPayment,
			"ORDER_OPENED": "of a gift card's order: its payments have events of their own", "ORDER_CLOSED": "as ORDER_OPENED",
			"AUTHORISATION_ADJUSTMENT": notMade, "AUTORESCUE": notMade, "CANCEL_AUTORESCUE": notMade, "VOID_PENDING_REFUND": notMade,
			"ISSUER_COMMENTS": noMoney, "NOTIFICATION_OF_FRAUD": noMoney,
		}},
		"Mollie's events": {"mollie", "mollie.yaml", "components/schemas/webhook-event-types/enum", func(name string) string {
			return `{"id":"event_1","type":"` + name + `","entityId":"tr_1","_embedded":{"entity":{"paymentId":"tr_1","amount":{"value":"5.00","currency":"EUR"}}}}`
		}, map[string]string{
			"balance-transaction.created": noPayment, "payout.*": noPayment, "sales-invoice.*": noPayment, "business-account-transfer.*": noPayment,
			"[*]": "no name: it stands for all",
		}},
		"Paddle's events": {"paddle", "paddle.yaml", "components/schemas/event_type_name/enum", func(name string) string {
			return `{"event_id":"evt_1","event_type":"` + name + `","data":{"id":"1","transaction_id":"txn_1","status":"` +
				map[bool]string{true: "approved", false: "completed"}[strings.HasPrefix(name, "adjustment")] + `","action":"refund","currency_code":"EUR"}}`
		}, map[string]string{
			"address.*": noPayment, "api_key.*": noPayment, "business.*": noPayment, "customer.*": noPayment, "discount.*": noPayment,
			"payment_method.*": "stored payment methods are not charged here", "payout.*": noPayment, "price.*": noPayment, "product.*": noPayment, "report.*": noPayment,
			"subscription.*": "each charge of a subscription is a transaction", "transaction.revised": "changes the customer's data, and no money",
		}},
		"Paddle's statuses of transactions": {"paddle", "paddle.yaml", "components/schemas/status-transaction/enum", func(name string) string {
			return `{"event_id":"evt_1","event_type":"transaction.updated","data":{"id":"txn_1","status":"` + name + `"}}`
		}, map[string]string{"past_due": "the failed try has an event of its own"}},
		"Paddle's actions": {"paddle", "paddle.yaml", "components/schemas/adjustment_action/enum", func(name string) string {
			return `{"event_id":"evt_1","event_type":"adjustment.updated","data":{"id":"adj_1","transaction_id":"txn_1","status":"approved","action":"` + name + `"}}`
		}, map[string]string{
			"credit": "moves no money", "credit_reverse": "moves no money", "chargeback_warning_reverse": "the warning moved no money, and has no dispute's id",
		}},
		"Paddle's statuses of refunds": {"paddle", "paddle.yaml", "components/schemas/status-adjustment/enum", func(name string) string {
			return `{"event_id":"evt_1","event_type":"adjustment.updated","data":{"id":"adj_1","transaction_id":"txn_1","action":"refund","status":"` + name + `"}}`
		}, nil},
		"PayPal's statuses of disputes": {"paypal", "paypal_customer_disputes_v1.json", "components/schemas/status/enum", func(name string) string {
			return payPalDispute(`"status":"` + name + `","dispute_outcome":{"outcome_code":"RESOLVED_SELLER_FAVOUR"}`)
		}, map[string]string{"OTHER": "names no status"}},
		"PayPal's outcomes": {"paypal", "paypal_customer_disputes_v1.json", "components/schemas/dispute_outcome/properties/outcome_code/enum", func(name string) string {
			return payPalDispute(`"status":"RESOLVED","dispute_outcome":{"outcome_code":"` + name + `"}`)
		}, map[string]string{
			"RESOLVED_WITH_PAYOUT": "no source decides who has the money: a person must look", "ACCEPTED": "as RESOLVED_WITH_PAYOUT",
		}},
		"PayPal's statuses of authorizations": {
			"paypal", "paypal_payments_payment_v2.json", "components/schemas/authorization_status/properties/status/enum",
			payPalStatus("PAYMENT.AUTHORIZATION.CREATED"),
			map[string]string{"PENDING": underWay, "CAPTURED": "the capture has its own event", "PARTIALLY_CAPTURED": "as CAPTURED"},
		},
		"PayPal's statuses of refunds": {
			"paypal", "paypal_payments_payment_v2.json", "components/schemas/refund_status/properties/status/enum",
			payPalStatus("PAYMENT.CAPTURE.REFUNDED"),
			map[string]string{"PENDING": underWay},
		},
		"Square's events": {"square", "square.json", "components/schemas/*Event/example/type", func(name string) string {
			object, _, _ := strings.Cut(name, ".")
			return `{"event_id":"1","type":"` + name + `","data":{"id":"1","object":{"` + object + `":{"id":"1","status":"COMPLETED","state":"WON",` + money + `}}}}`
		}, map[string]string{
			"dispute.evidence.*": noMoney, "payout.*": noPayment, "invoice.*": "the payment of an invoice has its own event",
			"order.*": "the payments of an order have their own events", "terminal.*": "the payments and refunds of a terminal have their own events",
			"subscription.*": "each charge of a subscription is a payment", "bank_account.*": noPayment, "booking.*": noPayment, "card.created": stored,
			"online_checkout.*": noPayment, "catalog.*": noPayment, "customer.*": noPayment, "device.*": noPayment, "gift_card.*": noPayment,
			"inventory.*": noPayment, "job.*": noPayment, "labor.*": noPayment, "location.*": noPayment, "loyalty.*": noPayment, "merchant.*": noPayment,
			"oauth.*": noPayment, "team_member.*": noPayment, "vendor.*": noPayment,
		}},
		"Square's states of disputes": {"square", "square.json", "components/schemas/DisputeState/enum", func(name string) string {
			return `{"event_id":"1","type":"dispute.state.updated","data":{"object":{"dispute":{"id":"1","state":"` + name + `",` + money + `}}}}`
		}, nil},
		"T-Bank's statuses": {"tbank", "tbank.json", "components/schemas/Confirm-2/properties/Status/enum", func(name string) string {
			return `{"TerminalKey":"1","PaymentId":"7","OrderId":"A1","Success":true,"Amount":500,"Status":"` + name + `"}`
		}, map[string]string{
			"CHECKING": underWay, "CHECKED": underWay, "PREAUTHORIZING": underWay, "PROCESSING": underWay, "REVERSING": underWay,
			"COMPLETING": "of a card that is stored", "COMPLETED": "of a card that is stored", "UNKNOWN": "names no status",
		}},
	}
}

// Each name of an event or a status in a provider's description is read otherwise than an unknown name, or stands among
// those that are not, with the reason.
func TestNamesOfTheDescriptions(t *testing.T) {
	t.Parallel()
	for what, d := range describedNames() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(published.Path(t, published.Specs, "full/"+d.file))
			require.NoError(t, err)
			var document any
			require.NoError(t, yaml.Unmarshal(raw, &document))
			names := namesAt(document, strings.Split(d.names, "/"))
			require.NotEmpty(t, names)
			reader, ok := verifiers(t)[d.kind].(webhooks.Reader)
			require.True(t, ok)
			meaning := func(name string) string { return meaningOf(reader.Read(webhooks.Delivery{Body: []byte(d.body(name))})) }
			unknown, used := meaning("no_such_name"), map[string]bool{}
			for _, name := range names {
				name = strings.TrimPrefix(name, "/")
				var listed bool
				for pattern := range d.unread {
					if found, err := path.Match(pattern, name); found && err == nil {
						listed, used[pattern] = true, true
					}
				}
				require.Equal(t, listed, meaning(name) == unknown, "%s is read as %q, and an unknown name as %q", name, meaning(name), unknown)
			}
			for pattern := range d.unread {
				require.True(t, used[pattern], "the description has no %s", pattern)
			}
		})
	}
}

func meaningOf(events []webhooks.Event) string {
	var all []string
	for _, e := range events {
		one := fmt.Sprint(e.Kind, " ", e.NeedsFetch)
		if e.Dispute != nil {
			one += fmt.Sprint(" ", e.Dispute.Status)
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// namesAt returns the texts at a path of a document, or the names of the members of an object.
func namesAt(document any, at []string) (names []string) {
	switch v := document.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			names = append(names, namesAt(item, at)...)
		}
	case map[string]any:
		if len(at) == 0 {
			return slices.Sorted(maps.Keys(v))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found, err := path.Match(at[0], name); found && err == nil {
				names = append(names, namesAt(v[name], at[1:])...)
			}
		}
	}
	return names
}
