// Package console is the pages under /support: the support API in a browser.
//
//	a browser ─► Secured ─► CrossOriginProtection ─► session ─► staff ─► use case ─► page
//	                                                   └─ signed out: 303 to /support/sign-in
//
// It guarantees that every page and form takes a session with the role support or
// admin, that a form is done once however often it is sent, and that only files of ours
// run on a page. Permissions and the audit log are matters of the use cases.
//
// It works without a script. With one, results appear while an id is typed, and
// the form of an action opens in its place.
//
// A sign-in by token exists in `paylatch dev` only, and none is taken in a header.
package console
