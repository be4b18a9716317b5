package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Carries tests a descriptor's list of members of a charge. The requests of a charge must contain each listed member at
// the listed path. Without the member, that path must be missing or have another value. No request may contain the value
// of an unlisted member, or an escape that JSON does not require. Each variant changes the full charge, because some tokens can't carry all members. At least one
// variant is required, and it must set the token.
func Carries(t *testing.T, s Suite, a kit.Adapter, variants ...func(*gateway.Charge)) {
	t.Helper()
	bodies := make([]string, len(variants))
	carried := map[string]bool{}
	for _, m := range a.Carries {
		carried[m.Member] = true
		remove, known := members[m.Member]
		require.True(t, known, "a pay has no %s", m.Member)
		found := false
		for i, vary := range variants {
			c := full()
			vary(&c)
			without := c
			without.Lines = slices.Clone(c.Lines)
			remove(&without)
			all, body := carriedBy(t, s, c)
			bodies[i] = body
			if reflect.DeepEqual(c.Details, without.Details) || all[m.As] == "" {
				continue
			}
			found = true
			less, _ := carriedBy(t, s, without)
			require.NotEqual(t, all[m.As], less[m.As], "%s is sent without %s", m.As, m.Member)
		}
		require.True(t, found, "%s is to be sent as %s: %s", m.Member, m.As, bodies)
	}
	for member, value := range samples {
		parent, _, _ := strings.Cut(member, ".")
		if !carried[member] && !carried[parent] {
			require.NotContains(t, strings.Join(bodies, "\n"), value, "%s is sent and not said to be", member)
		}
	}
	further(t, s, a)
}

// carriedBy returns the contents of a charge's requests: values by path, and the bodies.
func carriedBy(t *testing.T, s Suite, c gateway.Charge) (values map[string]string, bodies string) {
	t.Helper()
	r := newRig(t, s)
	_, _ = r.Charge(r.Context(), c)
	values = map[string]string{}
	var all strings.Builder
	for _, q := range r.requests() {
		if q.Method != http.MethodGet {
			require.NotContains(t, string(q.Body), `\u00`, "JSON needs no such escape of these members")
			leaves(t, q, values)
			all.WriteString(string(q.Body) + q.Query)
		}
	}
	return values, all.String()
}

// samples are distinctive values of members. A test finds a member in a request by its sample.
var samples = map[string]string{ //nolint:gochecknoglobals // a table
	"customer.reference": "c-carried-7", "customer.email": "jane.carried@shop.example", "customer.name": "Jane Carried",
	"customer.phone": "+4930901820", "customer.ip": "203.0.113.77", "browser": "Carried/5.0",
	"statement_descriptor": "SHOP CARRIED", "return_url": "https://shop.example/carried", "lines": "A carried & <fine> ticket",
	"customer.billing_address": "Billing & Street 1", "customer.shipping_address": "Shipping Street 2",
}

// members maps a member to a function that removes this member from a charge.
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

// full returns a charge with all members that do not contradict each other.
func full() gateway.Charge {
	c := charge("")
	c.Order = "A&1"
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

// leaves adds a request's values by path. The path is that of the JSON, or of the form: names in brackets are members.
func leaves(t *testing.T, q Request, values map[string]string) {
	t.Helper()
	var body any
	if json.NewDecoder(bytes.NewReader(q.Body)).Decode(&body) == nil {
		addLeaves(body, "", values)
		return
	}
	form, err := url.ParseQuery(string(q.Body))
	require.NoError(t, err)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values[formPath(name)] += fmt.Sprint(form[name])
	}
}

// formPath is the path of a form's name: a[0][b] is a[].b.
func formPath(name string) string {
	var path strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '[' || c == ']' }) {
		switch {
		case strings.Trim(part, "0123456789") == "":
			path.WriteString("[]")
		case path.Len() > 0:
			path.WriteString("." + part)
		default:
			path.WriteString(part)
		}
	}
	return path.String()
}

func addLeaves(value any, path string, values map[string]string) {
	values[strings.TrimPrefix(path, ".")] += fmt.Sprint(value) + " "
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			addLeaves(member, path+"."+name, values)
		}
	case []any:
		for _, item := range v {
			addLeaves(item, path+"[]", values)
		}
	}
}
