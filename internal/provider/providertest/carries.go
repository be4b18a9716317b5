package providertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
)

// Carries tests what a descriptor says of the members of a pay: one that is named there is in the
// requests of a charge that has it, by the path that is named, and in none of a charge without it; the
// values of all others are in no request. Each variant changes the full charge, of which not every
// member can be sent with every token; it must have one, which returns the token at least.
func Carries(t *testing.T, s Suite, a descriptor.Adapter, variants ...func(*gateway.Charge)) {
	t.Helper()
	sent := func(clear func(*gateway.Charge)) (paths map[string]bool, bodies string) {
		paths = map[string]bool{}
		for _, vary := range variants {
			r := newRig(t, s)
			c := full()
			vary(&c)
			clear(&c)
			_, _ = r.Charge(r.Context(), c)
			for _, q := range r.requests() {
				if q.Method != http.MethodGet {
					leaves(t, q, paths)
					bodies += string(q.Body) + q.Query
				}
			}
		}
		return paths, bodies
	}
	all, bodies := sent(func(*gateway.Charge) {})
	carried := map[string]bool{}
	for _, m := range a.Carries {
		carried[m.Member] = true
		clear, known := members[m.Member]
		require.True(t, known, "a pay has no %s", m.Member)
		require.True(t, all[m.As], "%s is to be sent as %s: %v", m.Member, m.As, all)
		without, _ := sent(clear)
		require.False(t, without[m.As], "%s is sent without %s", m.As, m.Member)
	}
	for member, value := range samples {
		parent, _, _ := strings.Cut(member, ".")
		if !carried[member] && !carried[parent] && !strings.Contains(member, "address") {
			require.NotContains(t, bodies, value, "%s is sent and not said to be", member)
		}
	}
}

// samples are the values of members by which they are found in a request.
var samples = map[string]string{ //nolint:gochecknoglobals // a table
	"customer.reference": "c-carried-7", "customer.email": "jane.carried@shop.example", "customer.name": "Jane Carried",
	"customer.phone": "+4930901820", "customer.ip": "203.0.113.77", "browser": "Carried/5.0",
	"statement_descriptor": "SHOP CARRIED", "return_url": "https://shop.example/carried", "lines": "A carried ticket",
	"customer.billing_address": "Billing Street 1", "customer.shipping_address": "Shipping Street 2",
}

// members remove one member of a pay.
var members = map[string]func(*gateway.Charge){ //nolint:gochecknoglobals // a table
	"payment_method.type":       func(c *gateway.Charge) { c.MethodType = "" },
	"save_payment_method":       func(c *gateway.Charge) { c.Save = false },
	"initiator":                 func(c *gateway.Charge) { c.Unattended = false },
	"statement_descriptor":      func(c *gateway.Charge) { c.StatementDescriptor = "" },
	"return_url":                func(c *gateway.Charge) { c.ReturnURL = "" },
	"customer.reference":        func(c *gateway.Charge) { c.Customer.Reference = "" },
	"customer.email":            func(c *gateway.Charge) { c.Customer.Email = "" },
	"customer.name":             func(c *gateway.Charge) { c.Customer.Name = "" },
	"customer.phone":            func(c *gateway.Charge) { c.Customer.Phone = "" },
	"customer.ip":               func(c *gateway.Charge) { c.Customer.IP = "" },
	"customer.locale":           func(c *gateway.Charge) { c.Customer.Locale = "" },
	"customer.billing_address":  func(c *gateway.Charge) { c.Customer.Billing = nil },
	"customer.shipping_address": func(c *gateway.Charge) { c.Customer.Shipping = nil },
	"browser":                   func(c *gateway.Charge) { c.Browser = nil },
	"lines":                     func(c *gateway.Charge) { c.Lines = nil },
	"lines.receipt": func(c *gateway.Charge) {
		for i := range c.Lines {
			c.Lines[i].Receipt = nil
		}
	},
}

// full is a charge with all that a pay may carry, but what contradicts itself.
func full() gateway.Charge {
	c := charge("")
	c.Details = gateway.Details{
		ReturnURL: samples["return_url"], StatementDescriptor: samples["statement_descriptor"],
		Customer: gateway.Customer{
			Reference: samples["customer.reference"], Email: samples["customer.email"], Name: samples["customer.name"], Phone: samples["customer.phone"],
			IP: samples["customer.ip"], Locale: "de-DE",
			Billing:  &gateway.Address{Line1: samples["customer.billing_address"], Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"},
			Shipping: &gateway.Address{Line1: samples["customer.shipping_address"], City: "Hamburg", PostalCode: "20095", Country: "DE"},
		},
		Browser: &gateway.Browser{
			UserAgent: samples["browser"], AcceptHeader: "text/html", Language: "de-DE", ColorDepth: 24, ScreenHeight: 900, ScreenWidth: 1440, TimeZoneOffset: -60,
		},
		Lines: []gateway.Line{
			{
				Description: samples["lines"], Quantity: "2", UnitAmount: 750, Amount: 1500, TaxRate: "0.19", TaxAmount: 239, SKU: "T-1", Type: gateway.LineDigital,
				Receipt: &gateway.LineReceipt{VATCode: 1, PaymentSubject: "service", PaymentMode: "full_payment", Measure: "piece"},
			},
			{
				Description: "Shipping", Quantity: "1", UnitAmount: 499, Amount: 499, TaxRate: "0.19", TaxAmount: 80, Type: gateway.LineShipping,
				Receipt: &gateway.LineReceipt{VATCode: 1, PaymentSubject: "service", PaymentMode: "full_payment", Measure: "piece"},
			},
		},
	}
	return c
}

// leaves adds the paths of what a request says: of JSON, or of a form, whose names in brackets are
// members.
func leaves(t *testing.T, q Request, paths map[string]bool) {
	t.Helper()
	var body any
	if json.NewDecoder(bytes.NewReader(q.Body)).Decode(&body) == nil {
		addLeaves(body, "", paths)
		return
	}
	form, err := url.ParseQuery(string(q.Body))
	require.NoError(t, err)
	for name := range form {
		path := ""
		for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '[' || c == ']' }) {
			if strings.Trim(part, "0123456789") == "" {
				path += "[]"
				continue
			}
			path += "." + part
		}
		paths[strings.TrimPrefix(path, ".")] = true
	}
}

func addLeaves(value any, path string, paths map[string]bool) {
	paths[strings.TrimPrefix(path, ".")] = true
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			addLeaves(member, path+"."+name, paths)
		}
	case []any:
		for _, item := range v {
			addLeaves(item, path+"[]", paths)
		}
	}
}
