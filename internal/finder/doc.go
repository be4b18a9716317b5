// Package finder is the search of staff: it reads what a customer quotes, and finds the payment.
//
//	text ─► Parse: a Plan of ids, amount and day, digits of a card, words ─► Store.Find ─► a page, what is exactly the text first, then newest first
//
// Ids are looked up in the tables of the payments themselves, as they are at this moment. Amounts, cards and words are looked up in a copy
// that an [Index] makes seconds later, so that no order, pay or webhook waits for it; what is missing there is found by its ids.
//
// A page goes on behind a place that never changes, so that no hit is passed over or comes twice while others are added. Each search is in
// the audit log before it is run, with its text, and a text with a card's number is refused.
package finder
