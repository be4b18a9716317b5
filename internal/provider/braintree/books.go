package braintree

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// mostListed is the maximum number of transactions in a search's result
	// (https://developer.paypal.com/braintree/docs/reference/general/searching/search-results). Braintree does not
	// document which transactions it omits from a larger result.
	mostListed = 50_000
	// bookPage is the number of transactions in a response of a search, according to its page-size (the recorded
	// response in https://github.com/braintree-go/braintree-go, transaction_unit_test.go).
	bookPage = 50
	// maxPage bounds a response of 50 whole transactions, or of 50,000 ids, in bytes.
	maxPage = 16 << 20
	// booksLag is our estimate, like findLag. It is longer, because a missed entry is not searched again.
	booksLag = time.Hour
	// declinedLater is the longest time that we expect between a transaction's creation and a declined settlement.
	// disputedLater is the longest time between a dispute's receipt and its win. Braintree documents no limits.
	declinedLater, disputedLater = 91 * 24 * time.Hour, 181 * 24 * time.Hour
)

// Entries implements gateway.Books by "Transaction: Search"
// (https://developer.paypal.com/braintree/docs/reference/request/transaction/search, with the requests of
// braintree_python, braintree/transaction_gateway.py). It searches for transactions that were submitted for settlement,
// settled or voided in the span, for declined settlements, and for disputes. The dates come from each transaction's
// history. The disputes are the same as in a lookup.
//
// It first reads all ids, and then reads the transactions by their ids. So a transaction that changes in between is not
// lost. A merchant may have several merchant accounts. Entries then passes the transactions of the configured account,
// or, without a configured account, the transactions in the account's currency. A payment's capture is a total, as in
// lookups. Entries name no payout. Only PayPal's transactions have a fee.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	ids, err := c.listed(ctx, in.Seconds())
	if err != nil {
		return err
	}
	unread := &kit.Unread{}
	for page := range slices.Chunk(ids, bookPage) {
		all, err := c.page(ctx, page)
		if err != nil {
			return err
		}
		for _, t := range all {
			entries, err := c.entries(t, in)
			if err := kit.Take(unread, entries, err, take); err != nil {
				return err
			}
		}
	}
	return unread.Err()
}

// searches returns the searches for a span, by the times that Braintree can search by (braintree_python,
// braintree/transaction_search.py). A declined settlement is searched by the transaction's creation. A dispute is
// searched by the date of its receipt
// (https://developer.paypal.com/braintree/graphql/reference/types/transaction-search-input.md), in an undocumented time
// zone.
func searches(in gateway.Span) []search {
	return []search{
		{field: "submitted_for_settlement_at", in: in},
		{field: "settled_at", in: in},
		{field: "voided_at", in: in},
		{field: "created_at", in: gateway.Span{From: in.From.Add(-declinedLater), To: in.To}, status: declinedLate},
		{field: "dispute_date", in: gateway.Span{From: in.From.Add(-disputedLater), To: in.To.AddDate(0, 0, 1)}},
	}
}

// search is a search for transactions with a time in a span and, unless it is empty, with a status.
type search struct {
	field  string
	in     gateway.Span
	status string
}

// criteria returns the search's criteria. The lower bound is inclusive and the upper bound exclusive, so a minute is
// added to the upper bound (https://developer.paypal.com/braintree/docs/reference/general/searching/search-fields).
func (s search) criteria(account string) map[string]any {
	all := map[string]any{s.field: map[string]string{
		"min": s.in.From.Truncate(time.Minute).Format(time.RFC3339), "max": s.in.To.Format(time.RFC3339),
	}}
	if s.status != "" {
		all["status"] = []string{s.status}
	}
	if account != "" {
		all["merchant_account_id"] = []string{account}
	}
	return all
}

// listed returns the ids of all transactions that may have entries in a span, each id once.
func (c *Client) listed(ctx context.Context, in gateway.Span) (all []string, err error) {
	seen := map[string]bool{}
	for _, s := range searches(in) {
		ids, err := c.ids(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("search transactions by %s: %w", s.field, err)
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all, nil
}

var errTooMany = errors.New("more transactions in a minute than a search has")

// ids returns the ids that a search finds. If the result may be truncated, it searches both halves of the span.
func (c *Client) ids(ctx context.Context, s search) (all []string, err error) {
	found, err := c.search(ctx, s.criteria(c.MerchantAccount))
	if err != nil || len(found) < mostListed {
		return found, err
	}
	length := s.in.To.Sub(s.in.From)
	if length <= time.Minute {
		return nil, errTooMany
	}
	for _, half := range s.in.Split(max(time.Minute, (length / 2).Truncate(time.Minute))) {
		found, err := c.ids(ctx, search{s.field, half, s.status})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// page returns the transactions with these ids. It looks up each transaction that the response lacks.
func (c *Client) page(ctx context.Context, ids []string) ([]transaction, error) {
	r := kit.Request{Method: http.MethodPost, URL: "/transactions/advanced_search", Question: true, MaxAnswer: maxPage}
	a, err := c.send(ctx, r, map[string]any{"search": map[string]any{"ids": ids}})
	if err != nil {
		return nil, err
	}
	var got struct {
		XMLName xml.Name      `xml:"credit-card-transactions"`
		Items   []transaction `xml:"transaction"`
	}
	if refused, err := read(a, &got); err != nil {
		return nil, err
	} else if refused != nil {
		return nil, refused
	}
	all := slices.DeleteFunc(got.Items, func(t transaction) bool { return !slices.Contains(ids, t.ID) })
	for _, id := range ids {
		if slices.ContainsFunc(all, func(t transaction) bool { return t.ID == id }) {
			continue
		}
		t, err := c.transaction(ctx, id, nil)
		if err != nil {
			return nil, fmt.Errorf("look transaction %s up, which a search has: %w", id, err)
		}
		all = append(all, t)
	}
	return all, nil
}
