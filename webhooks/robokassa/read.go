package robokassa

import (
	"cmp"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

type notification struct {
	amount, invoice, signature string
	// shop holds the merchant's own parameters as name=value, sorted by name, and fields all of them by name.
	shop   []string
	fields map[string]string
}

// shopPrefix begins the names of the merchant's own parameters, in any case.
const shopPrefix = "shp_"

// counts reports whether the hash covers a field of this name, or is in it.
func counts(name string) bool {
	return isShop(name) || slices.Contains([]string{"OutSum", "out_summ", "InvId", "inv_id", "SignatureValue", "crc"}, name)
}

func isShop(name string) bool { return strings.HasPrefix(strings.ToLower(name), shopPrefix) }

// readForm reads a form. Old shops get the names out_summ, inv_id and crc. The hashed text must have one reading only. The
// meaning of the values is checked by [notification.event].
func readForm(form string) (notification, error) {
	fields, err := read.Form(form, counts)
	if err != nil {
		return notification{}, fmt.Errorf("%w: %w", webhooks.ErrSignatureMalformed, err)
	}
	r := notification{
		amount:    cmp.Or(fields["OutSum"], fields["out_summ"]),
		invoice:   cmp.Or(fields["InvId"], fields["inv_id"]),
		signature: cmp.Or(fields["SignatureValue"], fields["crc"]),
		fields:    fields,
	}
	if r.signature == "" {
		return r, fmt.Errorf("%w: SignatureValue", webhooks.ErrSignatureMissing)
	}
	if strings.Contains(r.amount+r.invoice, ":") {
		return r, fmt.Errorf("%w: OutSum and InvId could be split in two ways", webhooks.ErrSignatureMalformed)
	}
	for name, value := range fields {
		if !isShop(name) {
			continue
		}
		if strings.Contains(strings.ToLower(name+value), ":"+shopPrefix) || strings.Contains(name, "=") {
			return r, fmt.Errorf("%w: Shp_ parameters that could be split in two ways", webhooks.ErrSignatureMalformed)
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
func (r notification) sum(algorithm func() hash.Hash, password string) []byte {
	h := algorithm()
	h.Write([]byte(strings.Join(append([]string{r.amount, r.invoice, password}, r.shop...), ":")))
	return h.Sum(nil)
}

// event turns a notification, which always is of a success, into an event. Its id is InvId, which numbers the payments
// of a shop. IsTest is not signed, and from memory.
func (r notification) event(currency string) (webhooks.Event, error) {
	e := webhooks.Event{
		ID: read.DerivedID("result", r.invoice), IDSource: webhooks.Derived, Type: "result", Kind: webhooks.KindSucceeded,
		References:        read.References(r.fields["Shp_payment_attempt_id"], r.invoice),
		ProviderPaymentID: r.invoice,
	}
	if test := r.fields["IsTest"]; test != "" {
		e.Mode = read.ModeOf(test == "1")
	}
	if !plain.Digits(r.invoice) {
		return e, fmt.Errorf("%w: InvId is not a number", webhooks.ErrPayload)
	}
	money, err := webhooks.ParseDecimal(r.amount, currency)
	return read.WithMoney(e, &money, err)
}
