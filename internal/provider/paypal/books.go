package paypal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	transactionsPath = "/v1/reporting/transactions"
	// searchable is "the maximum supported range" of one search.
	searchable = 31 * 24 * time.Hour
	// booksLag is the longest time that "it takes [...] for executed transactions to appear".
	booksLag = 3 * time.Hour
	// completedLater is our limit for the time until a pending transaction is completed, such as an eCheck or a payment under review.
	// A search dates a transaction by its initiation, so the daily run must search the time again.
	completedLater = searchable
	// pageOf is the largest page, and maxPage the limit of its size in bytes.
	pageOf, maxPage = "500", 8 << 20
)

// Entries implements gateway.Books. It searches the transactions of the last three years
// (https://developer.paypal.com/docs/api/transaction-search/v1/). The app needs the permission "Transaction search",
// which may take nine hours to become effective (https://developer.paypal.com/docs/transaction-search/). If a span is
// not completely listed yet, Entries passes the listed transactions and then returns an error. No transaction names its
// payout (see Payouts).
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	for _, part := range in.Seconds().Split(searchable) {
		err := c.transactions(ctx, part, "", func(item json.RawMessage) error { return kit.Pass(unread, item, detail.entries, take) })
		if err != nil {
			return err
		}
	}
	return unread.Err()
}

// searchPage is a page of a search.
type searchPage struct {
	Details []json.RawMessage `json:"transaction_details"`
	Pages   int               `json:"total_pages"`
	// Refreshed is the time up to which transactions are listed.
	Refreshed string `json:"last_refreshed_datetime"`
}

// tooLarge is the issue of a search with too many results
// (https://developer.paypal.com/api/transaction-search/v1/errors/resultset_too_large).
const tooLarge = "RESULTSET_TOO_LARGE"

// transactions passes the transactions of a span with an event code, or all if the code is empty. If there are too many, it reads the
// span's halves.
func (c *Client) transactions(ctx context.Context, in gateway.Span, code string, one func(json.RawMessage) error) error {
	page, err := c.search(ctx, in, code, 1)
	var refused *refusal
	if errors.As(err, &refused) && refused.is(tooLarge) && in.To.Sub(in.From) > time.Second {
		for _, half := range in.Split(max(time.Second, (in.To.Sub(in.From) / 2).Truncate(time.Second))) {
			if err := c.transactions(ctx, half, code, one); err != nil {
				return err
			}
		}
		return nil
	}
	for number := 2; err == nil; number++ {
		for _, item := range page.Details {
			if err := one(item); err != nil {
				return err
			}
		}
		if number > page.Pages {
			return page.early(in)
		}
		page, err = c.search(ctx, in, code, number)
	}
	return fmt.Errorf("list %s: %w", transactionsPath, err)
}

func (c *Client) search(ctx context.Context, in gateway.Span, code string, number int) (page searchPage, err error) {
	query := url.Values{
		"start_date": {in.From.Format(time.RFC3339)}, "end_date": {in.To.Format(time.RFC3339)},
		"fields": {"transaction_info"}, "page_size": {pageOf}, "page": {strconv.Itoa(number)},
	}
	if code != "" {
		query.Set("transaction_type", code)
	}
	r := kit.Request{Method: http.MethodGet, URL: transactionsPath + "?" + query.Encode(), MaxAnswer: maxPage}
	refused, err := c.api.Do(ctx, r, nil, &page)
	switch {
	case err != nil:
	case refused != nil:
		err = refused
	case page.Details == nil:
		err = errNameless
	}
	return page, err
}

var errEarly = errors.New("not all of the span is listed yet")

func (p searchPage) early(in gateway.Span) error {
	until, err := date(p.Refreshed)
	if err == nil && until.Before(in.To) {
		return fmt.Errorf("list %s: %w: only until %s", transactionsPath, errEarly, until.Format(time.RFC3339))
	}
	return nil
}

// date parses a time of a report. The offset in PayPal's examples has no colon.
func date(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05Z0700", text)
	}
	if err != nil {
		return time.Time{}, errNoDate
	}
	return at.UTC(), nil
}

var errNoDate = errors.New("it has no date")
