package bulk

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Filter chooses events, or open discrepancies. An empty member is any.
type Filter struct {
	// Account is the account that sent the event, or the account of the discrepancy's attempt.
	Account string
	// Verdict and Type, the provider's name, are of events; Kind is of discrepancies.
	Verdict, Type, Kind string
	// Since and Until bound when an event was received or a discrepancy opened. Until is not in it; nil for no bound.
	Since, Until *time.Time
}

// Verdicts returns the verdicts that a stored event can have.
func Verdicts() []string {
	list := []fsm.Verdict{
		fsm.Applied, fsm.Repeat, fsm.Stale, fsm.Conflict, payment.Ignored, payment.VerdictUnmatched, payment.VerdictDeferred, payment.VerdictForeign, payment.VerdictUnreadable,
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	slices.Sort(texts)
	return texts
}

// maxText bounds a member of a filter, in bytes.
const maxText = 512

// bounds returns the names of since and until in the API and in the audit log. The names say which time they bound.
func (k Kind) bounds() (since, until string) {
	if k == Replay {
		return "received_from", "received_to"
	}
	return "opened_from", "opened_to"
}

// Members returns the members that are set, by their names in the API.
func (f Filter) Members(k Kind) map[string]string {
	since, until := k.bounds()
	members := map[string]string{"account": f.Account, "verdict": f.Verdict, "type": f.Type, "kind": f.Kind}
	if f.Since != nil {
		members[since] = f.Since.UTC().Format(time.RFC3339Nano)
	}
	if f.Until != nil {
		members[until] = f.Until.UTC().Format(time.RFC3339Nano)
	}
	for name, text := range members {
		if text == "" {
			delete(members, name)
		}
	}
	return members
}

// text returns the filter for the audit log.
func (f Filter) text(k Kind) string {
	members := f.Members(k)
	parts := make([]string, 0, len(members))
	for name, text := range members {
		parts = append(parts, name+"="+text)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Between returns the order with the bounds of its filter. It returns a payment.ValidationError.
func (o Order) Between(since, until string) (_ Order, err error) {
	from, to := o.Kind.bounds()
	if o.Filter.Since, err = parseTime("filter."+from, since); err != nil {
		return o, err
	}
	o.Filter.Until, err = parseTime("filter."+to, until)
	return o, err
}

// parseTime parses a bound: RFC 3339, or, as a browser sends it, without seconds and zone for UTC. Empty is no bound. It returns a
// payment.ValidationError.
func parseTime(field, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC().Truncate(time.Microsecond) // the precision of the storage
			return &t, nil
		}
	}
	return nil, payment.Invalid(field, "must be a time such as 2026-03-01T09:30:00Z")
}

// valid returns a payment.ValidationError.
func (o Order) valid() error {
	f := o.Filter
	since, until := o.Kind.bounds()
	if len(f.Members(o.Kind)) == 0 {
		return payment.Invalid("filter", "must have at least one member: an empty filter would choose all items")
	}
	for field, text := range map[string]string{"filter.account": f.Account, "filter.type": f.Type} {
		if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return payment.Invalid(field, "must be text in UTF-8, of at most 512 bytes")
		}
	}
	switch kinds, verdicts := payment.DiscrepancyKinds(), Verdicts(); {
	case f.Verdict != "" && !slices.Contains(verdicts, f.Verdict):
		return payment.Invalid("filter.verdict", "must be one of "+strings.Join(verdicts, ", ")+", or be left out")
	case f.Kind != "" && !slices.Contains(kinds, f.Kind):
		return payment.Invalid("filter.kind", "must be one of "+strings.Join(kinds, ", ")+", or be left out")
	case f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until):
		return payment.Invalid("filter."+until, "must be later than "+since)
	case o.Kind == Resolve:
		return resolvable(o.Resolution)
	}
	return nil
}

// resolvable refuses resolutions that need further data for each discrepancy.
func resolvable(r payment.Resolution) error {
	switch r {
	case payment.ResolvedNotPaid, payment.ResolvedRefundedElsewhere, payment.ResolvedAccepted:
		return nil
	case payment.ResolvedPaid:
		return payment.Invalid("resolution", "`paid` needs the provider's id of each payment: resolve these cases one by one")
	case payment.ResolvedSettled: // by itself alone
	}
	return payment.Invalid("resolution", "must be not_paid, refunded_elsewhere or accepted")
}
