package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// check is one promise of the contract.
type check struct {
	name string
	// expects is the expected response, remedy the advice to the provider's developer if it differs.
	expects, remedy string
	// after is the check that must have passed; may be empty.
	after string
	// needs returns why the check can't run; nil: it always can.
	needs func(*session) string
	// do returns an unexpected response as an error, or errUnsupported if the provider does not offer the feature.
	do func(context.Context, *session) error
}

// errUnsupported is a refusal as not_supported.
var errUnsupported = errors.New("the provider refuses it as not_supported")

// found is the finding of a passed check.
type found string

// Error implements error.
func (f found) Error() string { return string(f) }

func (c check) run(ctx context.Context, s *session, outcomes map[string]Outcome) Result {
	r := Result{Check: c.name, Outcome: Skipped}
	if c.after != "" && outcomes[c.after] != Passed {
		r.Note = fmt.Sprintf("%q has not passed", c.after)
		return r
	}
	if c.needs != nil {
		if r.Note = c.needs(s); r.Note != "" {
			return r
		}
	}
	err := c.do(ctx, s)
	var note found
	switch {
	case err == nil:
		r.Outcome = Passed
	case errors.As(err, &note):
		r.Outcome, r.Note = Passed, string(note)
	case errors.Is(err, errUnsupported):
		r.Note = errUnsupported.Error()
	default:
		r.Outcome, r.Expected, r.Got, r.Remedy = Failed, c.expects, s.plain(err.Error()), c.remedy
	}
	return r
}

// checks returns all checks, in the order in which they run.
func checks() []check {
	return slices.Concat(requestChecks(), chargeChecks(), keyChecks(), lookupChecks(), holdChecks(), cancelChecks(), refundChecks(), webhookChecks(),
		capabilityChecks())
}

// must returns nil if a condition holds, else an error with this text.
func must(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}
