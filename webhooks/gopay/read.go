package gopay

import (
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// maxID is the number of digits of the largest int64.
const maxID = 19

// parse reads the query. If the shop gave GoPay an address with an attempt's id, the query has this id as well. Any other parameter of the shop's address is ignored, twice or not.
func parse(d webhooks.Delivery) (webhooks.Event, error) {
	query, err := read.Form(read.Query(d), read.Only("id"))
	if err != nil {
		return webhooks.Event{}, fmt.Errorf("%w: %w", webhooks.ErrPayload, err)
	}
	id := query["id"]
	if !plain.Digits(id) || len(id) > maxID {
		return webhooks.Event{}, fmt.Errorf("%w: no id of a payment in the query", webhooks.ErrPayload)
	}
	e := read.Notice(d, id)
	mark := query["payment_attempt_id"]
	e.References, e.BrowserMark = read.References(mark, id), mark != "" // anybody can call the address
	return e, nil
}
