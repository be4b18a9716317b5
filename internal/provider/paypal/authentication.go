package paypal

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// scripted reports whether PayPal's script in the shop's page takes the payment method: the card fields, Apple Pay and Google Pay. The order
// keeps the method's name as the reference_id of its purchase unit.
func scripted(method string) bool {
	return slices.Contains([]string{"apple_pay", "card", "google_pay"}, method)
}

// authentication is the result of a card's 3-D Secure
// (https://developer.paypal.com/api/orders/v2/definitions/authentication_response).
type authentication struct {
	Shift        string `json:"liability_shift"`
	ThreeDSecure struct {
		Status     string `json:"authentication_status"`
		Enrollment string `json:"enrollment_status"`
	} `json:"three_d_secure"`
}

// passes reports whether PayPal recommends to continue with the authorization. Without a shift of the liability it does so only if the card
// or its bank takes no part in 3-D Secure, or PayPal bypassed it
// (https://developer.paypal.com/docs/checkout/advanced/customize/3d-secure/response-parameters, "Recommended action").
func (a authentication) passes() bool {
	switch a.Shift {
	case "POSSIBLE", "YES":
		return true
	case "NO":
		return a.ThreeDSecure.Status == "" && slices.Contains([]string{"N", "U", "B"}, a.ThreeDSecure.Enrollment)
	}
	return false
}

// results returns the results of the order's 3-D Secure: none, if the card or its wallet needed none, or the customer has not finished.
func (o order) results() (all []*authentication) {
	for _, s := range o.Source {
		for _, a := range []*authentication{s.Authentication, s.Card.Authentication} {
			if a != nil {
				all = append(all, a)
			}
		}
	}
	return all
}

// rejected returns the first result that has not passed; nil if all have.
func rejected(results []*authentication) *authentication {
	if i := slices.IndexFunc(results, func(a *authentication) bool { return !a.passes() }); i >= 0 {
		return results[i]
	}
	return nil
}

func (a authentication) failure() *payment.Failure {
	return payment.NewFailure("authentication_failed", "liability_shift "+a.Shift)
}

// authenticated reads an order with the result of 3-D Secure, under the permit of the command that follows: "fields: … Valid filter field is
// payment_source" (https://developer.paypal.com/docs/api/orders/v2/#orders_get).
func (c *Client) authenticated(ctx context.Context, id string, l *gateway.Permit) (order, error) {
	var found order
	err := c.api.Get(ctx, ordersPath+"/"+url.PathEscape(id)+"?fields=payment_source", l, &found)
	if err == nil && found.ID == "" { // the filter may leave out the status
		err = errNameless
	}
	return found, err
}

// unverified reports whether PayPal's script may still have to authenticate the card: it verifies cards and Google Pay, and PayPal approves
// an order that needs no verification.
func (o order) unverified() bool {
	return o.Status == "CREATED" && (o.method() == "card" || o.method() == "google_pay")
}

// action returns what the customer does next: PayPal's script in the shop's page takes the order's id, and any other order has a page.
func (o order) action() *payment.NextAction {
	method := o.method()
	if method == "" {
		return payment.Redirect(o.page())
	}
	data, err := json.Marshal(map[string]string{"order_id": o.ID, "payment_method": method})
	if err != nil {
		return nil
	}
	return &payment.NextAction{Type: payment.ActionSDK, Data: data}
}

// method returns the method that PayPal's script takes; "" for an order with a page.
func (o order) method() string {
	for _, u := range o.PurchaseUnits {
		if scripted(u.ReferenceID) {
			return u.ReferenceID
		}
	}
	return ""
}
