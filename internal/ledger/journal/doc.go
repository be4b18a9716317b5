// Package journal writes a month of the ledger as double entries, and sums it up.
//
//	movement    capture, refund, chargeback      ─► receivable of the account   against income and expenses
//	settlement  entry of the books of a payment  ─► balance of the account      against the receivable; its fee is an expense
//	entry       of the books, of no payment      ─► balance of the account      against fees, reserves, transfers, or equity:unexplained
//	payout      transfer to the bank             ─► bank                        against the balance; the rest is equity:unexplained
//
// The postings of each transaction sum to zero in each currency. What stays on a receivable is recorded here and not in the books, or
// the other way round. The journal is written day by day, and holds one page of rows at a time. A day, and a month, is one of UTC.
package journal
