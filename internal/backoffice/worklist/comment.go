package worklist

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// maxComment bounds a comment, in characters.
const maxComment = 2000

// AddComment is the command that adds a person's comment to a discrepancy.
type AddComment struct {
	ID   payment.DiscrepancyID
	Text string
	// Key is an idempotency key of the caller for this discrepancy; empty if there is none.
	Key idempotency.Key
}

// Comment adds a comment to a discrepancy, even to a resolved one. The same comment under the same key is not added
// again and returns idempotency.Reused. It returns payment.ErrForbidden, a payment.ValidationError,
// payment.ErrDiscrepancyNotFound and, for another text under the same key, idempotency.ErrKeyReused.
func (s *Service) Comment(ctx context.Context, who support.Staff, cmd AddComment) (Entry, idempotency.Result, error) {
	if err := who.MayLook(); err != nil {
		return Entry{}, "", err
	}
	if n := utf8.RuneCountInString(cmd.Text); strings.TrimSpace(cmd.Text) == "" || n > maxComment || !payment.IsStorable(cmd.Text) {
		return Entry{}, "", payment.Invalid("text", "must be 1 to 2000 characters")
	}
	result, err := s.comment(ctx, who, cmd)
	if err != nil {
		return Entry{}, "", err
	}
	e, err := s.Store.Entry(ctx, cmd.ID, Shown)
	return e, result, err
}

// comment adds a comment and writes an audit entry for each call. A call that adds nothing writes its own entry.
func (s *Service) comment(ctx context.Context, who support.Staff, cmd AddComment) (idempotency.Result, error) {
	c := Comment{ID: payment.CellOf(cmd.ID).NewID(), DiscrepancyID: cmd.ID, Author: who.Subject, Text: cmd.Text, Key: cmd.Key}
	entry := who.Entry(support.Commented, target, cmd.ID.String())
	done := entry
	done.ID, done.Outcome = payment.OnlyCell.NewID(), support.Done
	done.Detail = map[string]any{"comment_id": c.ID.String()}
	first, err := s.Store.Comment(ctx, c, done)
	if err == nil && first == nil {
		return idempotency.Created, nil
	}
	if first != nil {
		entry.Detail = map[string]any{"comment_id": first.ID.String(), "reused": true}
		if first.Text != cmd.Text {
			err = idempotency.ErrKeyReused
		}
	}
	return idempotency.Reused, s.Audit.Audited(ctx, entry, err)
}
