// Package finder finds a payment by a customer's words.
//
//	text ─► Parse: a Plan of ids, amount and day, digits of a card, words ─► Store.Find ─► a page, exact matches first, then newest first
//
// Ids are looked up in the tables of the payments themselves, as they are at this moment. Amounts, cards and words are looked up
// in a copy that an [Index] makes seconds later, so that no order, attempt or webhook waits for it. An item that is not copied
// yet is found by its ids.
//
// The cursor of a page never changes, so no hit is passed over or repeated while others are added. Each search is in the audit
// log before it is run, with its text. A text with a card's number is refused.
package finder
