package robokassa

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refundRequest is the payload of a refund's token (https://docs.robokassa.ru/ru/refund-api, "Create").
type refundRequest struct {
	OpKey string       `json:"OpKey"`
	Sum   json.Number  `json:"RefundSum"`
	Items []refundItem `json:"InvoiceItems,omitempty"`
}

// refundAnswer has the response members of both calls. Success, Message and RequestID come from Create, the others from
// GetState. For an unknown id, GetState returns only a Message.
type refundAnswer struct {
	Success   *bool       `json:"success"`
	Message   string      `json:"message"`
	RequestID string      `json:"requestId"`
	Amount    json.Number `json:"amount"`
	Label     string      `json:"label"`
}

// Refund implements gateway.Provider (https://docs.robokassa.ru/ru/refund-api). It first looks up the operation's key.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	sum, err := c.sum(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	items, err := c.itemsOf(r.Receipt)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case c.shop.Password3 == "":
		return gateway.RefundOutcome{}, fmt.Errorf("%w: the account has no password3: %w", gateway.ErrUnsupportedRequest, gateway.ErrUnsupported)
	}
	paid, err := c.state(ctx, r.ProviderPaymentID, &r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case paid.OpKey == "" || *paid.State != statePaid:
		return gateway.RefundOutcome{}, fmt.Errorf("%w: %w: no paid operation", gateway.ErrNotSent, gateway.ErrInconclusive)
	}
	token, err := c.token(refundRequest{OpKey: paid.OpKey, Sum: json.Number(sum), Items: items})
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	a, err := c.send(ctx, kit.Request{
		Method: http.MethodPost, URL: c.refunds + "/RefundService/Refund/Create", Permit: &r.Permit, Body: token,
		Header: http.Header{"Content-Type": {"application/json"}},
	}, http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var said refundAnswer
	switch err := a.Read(&said); {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case said.Success == nil, *said.Success && said.RequestID == "":
		return gateway.RefundOutcome{}, errUnclear
	case !*said.Success:
		return gateway.RefusedRefund(reason(said.Message)), nil
	}
	return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: said.RequestID, Money: &r.Money}, nil
}

// token returns a JSON Web Token with the payload, signed with Password3 and HS256, as a JSON string. Robokassa's own
// WordPress plugin sends it in this form.
func (c *Client) token(payload refundRequest) ([]byte, error) {
	raw, err := kit.JSON(payload)
	if err != nil {
		return nil, err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(raw)
	h := hmac.New(sha256.New, []byte(c.shop.Password3))
	_, _ = h.Write([]byte(signed))
	return []byte(`"` + signed + "." + encode(h.Sum(nil)) + `"`), nil
}

// reason returns the code of a refused refund, such as NotEnoughOperationFunds. It omits a sentence, which may quote the
// request.
func reason(message string) string {
	if label.MatchString(message) {
		return message
	}
	return "refund_refused"
}

// unknownRefund is the beginning of GetState's message about an unknown id.
const unknownRefund = "Id is invalid or request id does not exist"

// LookupRefund implements gateway.Provider (https://docs.robokassa.ru/ru/refund-api, "GetState"). It finds a refund only
// by Robokassa's id. Refunds have no mark of ours, and no call lists them.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return gateway.RefundOutcome{}, fmt.Errorf("%w: refunds are looked up by Robokassa's id", gateway.ErrInconclusive)
	}
	a, err := c.send(ctx, kit.Request{
		Method: http.MethodGet, URL: c.refunds + "/RefundService/Refund/GetState?" + url.Values{"id": {r.ProviderRefundID}}.Encode(),
	}, http.StatusOK, http.StatusBadRequest, http.StatusNotFound)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var found refundAnswer
	switch err := a.Read(&found); {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case found.RequestID == "" && strings.HasPrefix(found.Message, unknownRefund):
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	case a.Status != http.StatusOK, found.RequestID != r.ProviderRefundID, found.Label == "":
		return gateway.RefundOutcome{}, errUnclear
	}
	return c.refundOutcome(found)
}

// refundOutcome maps a refund by its label. An unrecognized label is processing.
func (c *Client) refundOutcome(r refundAnswer) (gateway.RefundOutcome, error) {
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: r.RequestID}
	switch r.Label {
	case "finished":
		o.Event = fsm.EventSucceeded
	case "canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	var err error
	o.Money, err = c.money(r.Amount.String())
	return o, err
}
