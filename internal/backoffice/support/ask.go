package support

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// An Erasure removes a customer's name from the customer's payments.
//
//	Begin ─► Orders, a batch a transaction ─► Details, the same ─► Keys ─► End
//
// The money stays: orders, attempts, refunds, movements and their log keep ids, amounts and times, under a random pseudonym,
// which is the same for all orders of one customer. Other data that names the customer, and data that providers sent, is
// deleted; docs/reference/privacy.md lists it.
//
// Each batch is one transaction: an interrupted batch is done again, and the same erasure started again continues at its last
// batch. An order with an attempt that is not over is left, and counted. No request from before an erasure charges again: its
// order belongs to another user from then on, and the request that made an order makes no second one.

// Erasure is the command line of an erasure.
type Erasure struct {
	User    string `required:"" placeholder:"ID" help:"The customer's user_id."`
	Details bool   `help:"Erase descriptions and metadata of the orders, too, and what fiscal receipts of later refunds would show."`
	// WithOpenDisputes erases in spite of open disputes.
	WithOpenDisputes bool   `help:"Erase although disputes are open. This also erases the providers' messages about them, which may be evidence."`
	DryRun           bool   `help:"Count the affected data without changing it."`
	Reason           string `default:"requested by the customer" help:"The reason, for the audit log. Name no person."`
}

// Validate refuses a text that is not a user's id.
func (q *Erasure) Validate() error {
	if _, err := authz.ParseUserID(q.User); err != nil {
		return fmt.Errorf("--user %w", err)
	}
	return nil
}

// ErasureSide is the store and the key functions of an erasure. Mark returns a digest of a text for each key of the configuration; the
// first digest is for new pseudonyms.
type ErasureSide struct {
	Store ErasureStore
	Mark  func(text string) ([][]byte, error)
	Who   Staff
	// Out has the result, Progress a line for each batch. Neither has the name.
	Out, Progress io.Writer
}

var (
	// ErrWaiting is returned if an order or a command of the user is under way and keeps the name until its end.
	ErrWaiting = errors.New("run the command again once they have ended: it skips erased data")
	// ErrDisputed is returned if disputes of the user's orders are open, since the erased data may be their evidence.
	ErrDisputed = errors.New("run the command again once they have ended, or with --with-open-disputes, which also erases the providers' messages about them (possible evidence)")
	// ErrNotOwner is returned for a role that may not erase.
	ErrNotOwner = errors.New("this role does not own the tables: use the database_url of `paylatch migrate`")
)

// maxDisputes is how many open disputes a refusal names.
const maxDisputes = 10

// Run erases, or counts, and prints the result. It returns ErrDisputed, ErrWaiting and ErrNotOwner.
func (q *Erasure) Run(ctx context.Context, at ErasureSide) error {
	user := payment.UserID(q.User)
	found, err := at.Store.Count(ctx, user, maxDisputes)
	if err != nil {
		return err
	}
	if len(found.Disputes) > 0 && !q.DryRun && !q.WithOpenDisputes {
		return fmt.Errorf("disputes are open: %s: %w", strings.Join(found.Disputes, "; "), ErrDisputed)
	}
	if q.DryRun {
		_, _ = fmt.Fprintf(at.Out, "%d orders would get a pseudonym, %d wait for an unfinished attempt\n", found.Orders-found.Waiting, found.Waiting)
		if len(found.Disputes) > 0 {
			_, _ = fmt.Fprintf(at.Out, "disputes are open: %s\n", strings.Join(found.Disputes, "; "))
		}
		return at.Store.AuditInsert(ctx, entry(at.Who, Counted, "", q.Reason).Ended(map[string]any{"orders": found.Orders, "waiting": found.Waiting}))
	}
	switch role, owns, err := at.Store.AuditMayBeChanged(ctx); {
	case err != nil:
		return err
	case !owns:
		return fmt.Errorf("database role %s: %w", role, ErrNotOwner)
	}
	marks, err := at.Mark(q.User)
	if err != nil {
		return err
	}
	done, err := erase(ctx, at, user, marks, *q)
	if err != nil {
		return fmt.Errorf("%w; run the command again: it continues where it stopped", err)
	}
	_, _ = fmt.Fprintf(at.Out, "%s: the name was removed from %d orders, and the provider's messages of %d events were erased\n", done.pseudonym, done.orders, done.events)
	if left := done.left; left.Orders > 0 || done.keys > 0 {
		return fmt.Errorf("%d orders and %d commands still have the name, because they are under way: %w", left.Orders, done.keys, ErrWaiting)
	}
	return nil
}
