package razorpay_test

import "net/http"

func (f *fake) createOrder(_ *http.Request, in request) (int, object) {
	switch {
	case in.Amount == nil || *in.Amount < 100:
		return refuse("The amount must be at least INR 1.00")
	case len(in.Receipt) > 40:
		return refuse("The receipt may not be greater than 40 characters.")
	case in.Payment == nil || in.Payment.Capture != "automatic" || in.Payment.Options["automatic_expiry_period"] != 12.0:
		return refuse("The automatic expiry period field is required")
	}
	for _, l := range f.links {
		if l.order && l.reference == in.Receipt {
			return refuse("The receipt has already been taken.")
		}
	}
	l := &link{id: f.id("order"), order: true, status: "created", currency: in.Currency, reference: in.Receipt, amount: *in.Amount, notes: in.Notes}
	f.links = append(f.links, l)
	return http.StatusOK, l.renderOrder()
}

func (l *link) renderOrder() object {
	o := object{
		"id": l.id, "entity": "order", "amount": l.amount, "amount_paid": 0, "amount_due": l.amount, "currency": l.currency, "receipt": l.reference,
		"offer_id": nil, "status": l.status, "attempts": len(l.tries), "notes": l.notes, "created_at": 1566986570,
	}
	if l.payment != "" {
		o["attempts"] = len(l.tries) + 1
	}
	if l.status == "paid" {
		o["amount_paid"], o["amount_due"] = l.amount, 0
	}
	return o
}

// agree acts as the customer in the script: the payment is authorised, and captured or not.
func (f *fake) agree(id, status string) (payment string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.link(id)
	if l.status == "paid" {
		return l.payment
	}
	l.payment, l.paid, l.status = f.id("pay"), status, "attempted"
	if status == "captured" {
		l.status = "paid"
	}
	return l.payment
}

func (f *fake) capture(r *http.Request, in request) (int, object) {
	l := f.link(r.PathValue("id"))
	switch {
	case l == nil:
		return missing()
	case l.paid != "authorized":
		return refuse("This payment has already been captured")
	case in.Amount == nil || *in.Amount != l.amount || in.Currency != l.currency:
		return refuse("Capture amount must be equal to the amount authorized")
	}
	l.paid, l.status = "captured", "paid"
	return http.StatusOK, l.renderPayment()
}

func (f *fake) listOrders(r *http.Request, _ request) (int, object) {
	items := []object{}
	for _, l := range f.links {
		if l.order && l.reference == r.URL.Query().Get("receipt") {
			items = append(items, l.renderOrder())
		}
	}
	return http.StatusOK, object{"entity": "collection", "count": len(items), "items": items}
}

func (f *fake) showOrder(r *http.Request, _ request) (int, object) {
	if l := f.link(r.PathValue("id")); l != nil && l.order {
		return http.StatusOK, l.renderOrder()
	}
	return missing()
}

// createUPI begins a payment in an app. Its status is created until the customer pays.
func (f *fake) createUPI(_ *http.Request, in request) (int, object) {
	l := f.link(in.OrderID)
	switch {
	case l == nil || !l.order || l.status == "paid":
		return refuse("The id provided does not exist")
	case in.Amount == nil || *in.Amount != l.amount || in.Method != "upi" || in.UPI["flow"] != "intent":
		return refuse("The flow is not enabled for the merchant")
	}
	l.tries = append(l.tries, "created")
	return http.StatusOK, object{"razorpay_payment_id": "pay_Try0", "link": "upi://pay?pa=shop@razorpay&tr=" + l.id + "&am=1999&cu=INR"}
}
