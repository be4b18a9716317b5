// Package worklist is the pages of the worklist: what is open, who works on it, what is written about it, and how it is resolved.
//
// Without a script each page is loaded anew. With one, the list is requested every few seconds with the digest of what it
// shows: 204 if it has not changed, else the cards alone. The script replaces a card only while it holds neither the focus nor typed text.
//
// A page is one entry in the audit log. What it requests by itself afterwards is none: it is served to a session that had the page, and to no
// other. It reads the session without keeping it alive.
package worklist
