package render

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

func attemptOrNull(id *payment.AttemptID) *string {
	if id == nil {
		return nil
	}
	text := id.String()
	return &text
}

// SupportHits renders a page of a search.
func SupportHits(f finder.Found) gen.SupportHits {
	return gen.SupportHits{Items: mapped(f.Hits, hit), NextCursor: orNull(f.Next), Understood: orNull(f.Understood)}
}

func hit(h finder.Hit) gen.SupportHit {
	shown := gen.SupportHit{
		Type: gen.SupportHitType(h.Type), ID: h.ID, OrderID: orNull(string(h.OrderID)), PaymentAttemptID: attemptOrNull(h.AttemptID),
		Status: h.Status, Matched: h.Matched, At: gen.Micros(h.At), UserID: orNull(string(h.User)),
	}
	if h.Money != nil {
		shown.Amount, shown.Currency = &h.Money.Minor, orNull(string(h.Money.Currency))
	}
	return shown
}

// SupportAttempt renders an attempt with its timeline and events.
func (r Renderer) SupportAttempt(a support.Attempt) gen.SupportAttempt {
	return gen.SupportAttempt{
		Summary: a.Summary, Attempt: r.ForStaff().Attempt(a.View), Timeline: mapped(a.Timeline, entry),
		Events: mapped(a.Events, func(e support.ShownEvent) gen.SupportEvent {
			return gen.SupportEvent{
				EventID: e.ID.String(), ProviderEventID: e.ProviderEventID, Kind: e.Kind, Verdict: string(e.Verdict),
				ReceivedAt: gen.Micros(e.ReceivedAt), Payload: e.Payload,
			}
		}),
	}
}

func entry(e support.Entry) gen.SupportEntry {
	return gen.SupportEntry{At: gen.Micros(e.At), Kind: gen.SupportEntryKind(e.Kind), Actor: e.Actor, Text: e.Text, Detail: e.Detail}
}

// SupportEvent renders an event with its redacted payload.
func SupportEvent(e support.ShownEvent) gen.SupportEventPage {
	return gen.SupportEventPage{
		EventID: e.ID.String(), ProviderEventID: e.ProviderEventID, Kind: e.Kind, Verdict: string(e.Verdict),
		ReceivedAt: gen.Micros(e.ReceivedAt), Payload: e.Payload, Account: e.Account, Type: e.Type, Text: e.Sentence(),
		OrderID: orNull(string(e.OrderID)), PaymentAttemptID: attemptOrNull(e.AttemptID), OccurredAt: (*gen.Micros)(e.OccurredAt), RawKept: e.Kept,
	}
}

// SupportRevealed renders an event's bytes: in Base64 where they are no text.
func SupportRevealed(e support.Event) gen.SupportRevealed {
	out := gen.SupportRevealed{
		EventID: e.ID.String(), ProviderEventID: e.ProviderEventID, ContentType: e.ContentType, Encoding: gen.SupportRevealedEncodingText,
	}
	if !e.Kept {
		return out
	}
	body := string(e.Body)
	if !utf8.Valid(e.Body) {
		out.Encoding, body = gen.SupportRevealedEncodingBase64, base64.StdEncoding.EncodeToString(e.Body)
	}
	out.Body = &body
	return out
}

// SupportReplayed renders the outcome of a replay.
func SupportReplayed(r intake.Replayed, dry bool) gen.SupportReplayed {
	out := gen.SupportReplayed{
		EventID: r.Event.ID.String(), DryRun: dry, Verdict: string(r.Verdict), Changed: r.Changed(), Text: support.ReplayText(r, dry),
	}
	if r.After != nil {
		out.PaymentAttemptID = attemptOrNull(&r.After.ID)
	}
	return out
}

// SupportAudit renders a page of the audit log.
func SupportAudit(list []support.AuditEntry, next string) gen.SupportAudit {
	return gen.SupportAudit{Items: mapped(list, auditEntry), NextCursor: orNull(next)}
}

func auditEntry(d support.AuditEntry) gen.SupportDeed {
	out := gen.SupportDeed{
		EntryID: d.ID.String(), DeedID: d.ActionID.String(), Actor: d.Actor,
		Roles:  mapped(d.Roles, func(r payment.Role) string { return string(r) }),
		Action: string(d.Action), TargetType: d.TargetType, Target: d.Target, OrderID: orNull(string(d.OrderID)),
		PaymentAttemptID: attemptOrNull(d.AttemptID), Reason: d.Reason, Address: d.Address, RequestID: d.RequestID,
		Outcome: gen.SupportDeedOutcome(d.Outcome), Detail: d.Detail, At: gen.Micros(d.At), Cell: d.Cell,
	}
	if out.Detail == nil {
		out.Detail = map[string]any{}
	}
	return out
}
