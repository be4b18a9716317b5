// Package support is what staff may see and do: search, the course of a payment
// as sentences, a worklist of what a person must look at, and a few actions.
//
//	Search ─► Attempt: summary, timeline, redacted events ─► Recheck, Replay, Reveal
//	Discrepancies ─► Resolve
//
// It guarantees that nobody but support and admin gets anything, that nothing is
// shown and nothing done without an entry in the audit log (who, what, why, when,
// from where), that an action has a reason, and that an action done twice is done
// once. The entry of an action stands in the action's own transaction where there
// is one; where a provider is asked in between, one entry says that it was begun
// and another what came of it. Who can't be written down is not served.
//
// It decides nothing about money: actions are use cases of package payment. What
// is shown of a provider's bytes is what the rules of [Redact] know to be safe, and
// nothing else; [Service.Reveal] shows the rest to whoever says why.
package support
