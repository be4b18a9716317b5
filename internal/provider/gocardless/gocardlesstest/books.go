package gocardlesstest

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// happened records the event of a change.
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

// Submit simulates a day at the bank: pending debits and refunds are confirmed and paid.
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

// Authorise authorises a billing request as its customer does on the page. GoCardless then creates the payment and a
// mandate. A request that is not pending creates nothing.
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

// Count returns the number of objects with this id prefix.
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

// Events returns the events after the first n, in the order of the changes.
func (f *Fake) Events(n int) []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[n:len(f.events):len(f.events)]
}

// Movement is a stored payment or refund.
type Movement struct {
	// Payment is the id of the refunded payment, or the payment's own id.
	Payment, ID, Status string
	Amount              int64
	Metadata            map[string]any
}

// Books returns all payments and refunds.
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

// Requested returns the ids of the billing requests that wait for their customers.
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
