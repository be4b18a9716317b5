// Package console is the pages under /support: what the support API offers, in a
// browser.
//
//	a browser ─► Secured ─► CrossOriginProtection ─► session ─► staff ─► use case ─► page
//	                                                   └─ nobody: 303 to /support/sign-in
//
// It guarantees that nobody sees or does anything without a session of somebody
// with the role support or admin, that a form is done once however often it is
// sent, and that nothing on a page runs but files of ours. Who may what, and what
// is written to the audit log, is decided by the use cases, not here.
//
// It works without a script. With one, results appear while an id is typed, and
// the form of an action opens where it is asked for.
//
// A token signs nobody in but in `paylatch dev`, and none is taken in a header.
package console
