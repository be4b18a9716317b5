// Package support shows a payment's history to staff, and has a few actions. The history consists of sentences. Package
// finder is its search.
//
//	Attempt: summary, timeline, redacted events ─► Recheck, Replay, Reveal
//	Discrepancies ─► Resolve
//
// It guarantees that only support and admin have access, that every view and every
// action has an entry in the audit log (actor, action, reason, time, address), that an
// action has a reason, and that a repeated action is done once. The entry of an action
// stands in the action's own transaction where there is one; around a call to a
// provider there are two, of its beginning and its outcome. Without an entry nothing is
// served.
//
// It decides nothing about money: actions are use cases of package payment. It shows a
// provider's bytes as redacted by package redact; [Service.Reveal] shows the rest for a
// reason.
package support
