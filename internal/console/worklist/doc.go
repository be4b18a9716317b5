// Package worklist is the pages of the worklist: the open discrepancies, their assignees, their comments and their resolution.
//
// Without a script each page is loaded anew. With a script, the list is requested every few seconds with the digest of its
// present content. The response is 204 if the list has not changed, else only the cards. The script replaces a card only while
// the card holds neither the focus nor typed text.
//
// Opening a page makes one entry in the audit log. The page's later requests by script make no entries: only a session that opened the page
// may send them. They read the session without keeping it alive.
package worklist
