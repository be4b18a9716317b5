package support

import (
	"strings"

	"github.com/paylatch/paylatch/internal/engine/intake"
)

// ReplayText returns the effect of a replay, or of a dry run, in sentences.
func ReplayText(r intake.Replayed, dry bool) string {
	text := "The event was applied again. "
	if dry {
		text = "This was a dry run: nothing was changed. This is the result if the event is applied again. "
	}
	text += sentence(verdicts, string(r.Verdict), "It was kept.")
	switch {
	case r.After == nil:
		text += " It belongs to no known attempt."
	case !r.Changed():
		text += " Attempt " + r.After.ID.String() + " does not change."
	case r.Before.State == r.After.State:
		text += " Attempt " + r.After.ID.String() + " stays " + string(r.After.State) + "; its amounts or ids change."
	default:
		text += " Attempt " + r.After.ID.String() + " changes from " + string(r.Before.State) + " to " + string(r.After.State) + "."
	}
	if len(r.Opened) > 0 {
		kinds := make([]string, len(r.Opened))
		for i, kind := range r.Opened {
			kinds[i] = string(kind)
		}
		text += " It needs review: " + strings.Join(kinds, ", ") + "."
	}
	return text
}
