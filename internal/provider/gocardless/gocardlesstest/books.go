package gocardlesstest

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// happened keeps the event of a change.
func (f *Fake) happened(collection, action string, of object) {
	links := object{strings.TrimSuffix(collection, "s"): of["id"]}
	if collection == "billing_requests" {
		more, _ := of["links"].(object)
		maps.Copy(links, more)
	}
	f.events = append(f.events, object{
		"id": f.id("EV"), "created_at": time.Now().UTC().Format(time.RFC3339Nano), //nolint:forbidigo // a provider's own clock
		"resource_type": collection, "action": action, "links": links, "resource_metadata": of["metadata"], "details": object{"origin": "gocardless"},
	})
}

// Submit is the bank's day: debits and refunds that were under way are confirmed and paid.
func (f *Fake) Submit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(f.objects)) {
		switch o := f.objects[id]; {
		case strings.HasPrefix(id, "PM") && o["status"] == "pending_submission":
			o["status"] = "confirmed"
			f.happened("payments", "confirmed", o)
		case strings.HasPrefix(id, "RF") && o["status"] == "submitted":
			o["status"] = "paid"
			f.happened("refunds", "paid", o)
		}
	}
}

// Authorise is a customer who authorises a billing request on its page: GoCardless makes its payment, and a mandate. One that is
// no longer pending makes none.
func (f *Fake) Authorise(id string) (made string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.objects[id]
	if b["status"] != "pending" {
		return ""
	}
	ask, _ := b["payment_request"].(object)
	amount, _ := ask["amount"].(int64)
	currency, _ := ask["currency"].(string)
	metadata, _ := ask["metadata"].(map[string]any)
	p := f.payment(amount, currency, metadata, "confirmed")
	made, _ = p["id"].(string)
	f.objects[made] = p
	links := object{"payment_request_payment": made}
	if m, there := b["mandate_request"].(object); there {
		id := f.id("MD")
		f.objects[id] = object{"id": id, "status": "active", "scheme": "sepa_core", "metadata": m["metadata"], "links": object{"customer": "CU0002"}}
		links["mandate_request_mandate"] = id
		b["resources"] = object{"customer_bank_account": object{"bank_name": "BARCLAYS BANK PLC", "account_number_ending": "11"}}
	}
	b["status"], b["links"] = "fulfilled", links
	f.happened("billing_requests", "fulfilled", b)
	f.happened("payments", "confirmed", p)
	return made
}

// Set changes the status of an object.
func (f *Fake) Set(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[id]["status"] = status
}

// Count is how many objects have ids of a prefix.
func (f *Fake) Count(prefix string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.objects {
		if strings.HasPrefix(id, prefix) {
			n++
		}
	}
	return n
}

// Events are those after the first n, in the order of what they are about.
func (f *Fake) Events(n int) []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[n:len(f.events):len(f.events)]
}

// Movement is a payment or a refund that is there.
type Movement struct {
	// Payment is the id of the refund's payment, else its own.
	Payment, ID, Status string
	Amount              int64
	Metadata            map[string]any
}

// Books are all payments and refunds.
func (f *Fake) Books() (payments, refunds []Movement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, o := range f.objects {
		m := Movement{ID: id, Payment: id}
		m.Status, _ = o["status"].(string)
		m.Amount, _ = o["amount"].(int64)
		m.Metadata, _ = o["metadata"].(object)
		switch {
		case strings.HasPrefix(id, "PM"):
			payments = append(payments, m)
		case strings.HasPrefix(id, "RF"):
			links, _ := o["links"].(object)
			m.Payment, _ = links["payment"].(string)
			refunds = append(refunds, m)
		}
	}
	return payments, refunds
}

// Requested are the ids of the billing requests that wait for their customers.
func (f *Fake) Requested() (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, o := range f.objects {
		if strings.HasPrefix(id, "BRQ") && o["status"] == "pending" {
			ids = append(ids, id)
		}
	}
	return ids
}
