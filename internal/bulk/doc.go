// Package bulk does many acts of staff as one: it replays the events, or resolves the discrepancies, that a filter chooses.
//
//	Try: how many of which ─► Begin: a job ─► Runner.Work, portion by portion ─► done
//	                                └──────────── Stop ────────────► stopped
//
// A job is a row. What it does is chosen by its filter and by its own id: nothing that was stored after it began. It goes through that in
// the order of ids. Each event or discrepancy is done by the use case for a single one, in a transaction that also counts it and moves
// the job behind it, under a lease with a fence: after a kill the next process goes on where the last commit was, and what a process
// that lost its lease still does is undone. Nothing is forced: what is refused is counted under the code of its problem.
//
// One job of a kind runs at a time. Two would take turns with the same attempts, and which of them did what would depend on chance.
// Each job is one act in the audit log, with an entry of its beginning and one of its end.
package bulk
