// Package reconcile compares an account's books, or a file, with the recorded movements.
//
//	entries ─► attempts by name ─► agree? ─► look the payment up ─► agree? ─► apply the entry ─► agree? ─► discrepancy
//	                         └─ no attempt ─► ours by its names? ─► discrepancy; else counted as foreign
//	movements of the span without an entry ─► look the payment up ─► there is none ─► discrepancy
//
// Each entry of a recorded payment is kept as a settlement: its fee, its net amount and its payout. A run may be killed
// at any time and repeated, even beside another run: each effect happens once. An entry is applied as a report after the
// whole span was read, so the order of the entries changes nothing.
//
// Memory holds one batch, and the entries that neither agree nor are explained by a lookup.
package reconcile
