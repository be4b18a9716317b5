package webhooks

import (
	"cmp"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// robokassaResult is what a notification says.
type robokassaResult struct {
	amount, invoice, signature string
	// shop holds the merchant's own parameters as name=value, sorted by name, and
	// fields all of them by name.
	shop   []string
	fields map[string]string
}

// shopPrefix begins the names of the merchant's own parameters, in any case.
const shopPrefix = "shp_"

// readRobokassa reads a form. Old shops get the names out_summ, inv_id and crc.
func readRobokassa(form string) (robokassaResult, error) {
	fields, err := formFields(form)
	if err != nil {
		return robokassaResult{}, fmt.Errorf("%w: %w", ErrSignatureMalformed, err)
	}
	r := robokassaResult{
		amount:    cmp.Or(fields["OutSum"], fields["out_summ"]),
		invoice:   cmp.Or(fields["InvId"], fields["inv_id"]),
		signature: cmp.Or(fields["SignatureValue"], fields["crc"]),
		fields:    fields,
	}
	if r.signature == "" {
		return r, fmt.Errorf("%w: SignatureValue", ErrSignatureMissing)
	}
	if !isDigits(r.invoice) || !isDigits(strings.Replace(r.amount, ".", "", 1)) {
		return r, fmt.Errorf("%w: OutSum or InvId is not a number", ErrSignatureMalformed)
	}
	for name, value := range fields {
		if !strings.HasPrefix(strings.ToLower(name), shopPrefix) {
			continue
		}
		if strings.Contains(strings.ToLower(name+value), ":"+shopPrefix) || strings.Contains(name, "=") {
			return r, fmt.Errorf("%w: Shp_ parameters that could be split in two ways", ErrSignatureMalformed)
		}
		r.shop = append(r.shop, name+"="+value)
	}
	slices.SortFunc(r.shop, func(a, b string) int { return strings.Compare(shopName(a), shopName(b)) })
	return r, nil
}

func shopName(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	return name
}

// sum returns the hash that proves the notification.
func (r robokassaResult) sum(algorithm func() hash.Hash, password string) []byte {
	h := algorithm()
	h.Write([]byte(strings.Join(append([]string{r.amount, r.invoice, password}, r.shop...), ":")))
	return h.Sum(nil)
}

// event turns a notification, which always is of a success, into an event. Its id
// is InvId, which numbers the payments of a shop. IsTest is not signed, and from
// memory.
func (r robokassaResult) event(currency string) (Event, error) {
	e := Event{
		ID: derivedID("result", r.invoice), IDSource: Derived, Type: "result", Kind: KindSucceeded,
		References:        references(r.fields["Shp_payment_attempt_id"], r.invoice),
		ProviderPaymentID: r.invoice,
		TestKnown:         r.fields["IsTest"] != "", Test: r.fields["IsTest"] == "1",
	}
	money, err := ParseDecimal(r.amount, currency)
	return e.withMoney(&money, err)
}
