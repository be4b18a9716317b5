package dev

import (
	"context"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/console/strip"
	"github.com/paylatch/paylatch/internal/payment"
)

// Course returns a function that draws the course of a payment for the demo. The function flush writes the notes that this
// process holds in memory.
func Course(from support.Store, flush func(context.Context) error) func(ctx context.Context, attempt string) templ.Component {
	return func(ctx context.Context, attempt string) templ.Component {
		id, err := payment.ParseAttemptID(attempt)
		if err != nil {
			return nil
		}
		_ = flush(ctx) // the picture is of use without the newest lines
		h, err := from.AttemptHistory(ctx, id)
		if err != nil {
			return nil
		}
		return strip.Strip(console.CourseOf(h.Page()))
	}
}
