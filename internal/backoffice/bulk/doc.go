// Package bulk replays many events, or resolves many discrepancies, by a filter.
//
//	Try: the number of items ─► Begin: a job ─► Runner.Work, portion by portion ─► done
//	                                └──────────── Stop ────────────► stopped
//
// A job is a row. Its filter and its own id choose its items: items that were stored after the job began are left out. It goes
// through the items in the order of ids. The use case for a single event or discrepancy does each item, in a transaction that
// also counts the item and moves the job behind it, under a lease with a fence. After a kill the next process continues at the
// last commit, and the work of a process that lost its lease is rolled back. Nothing is forced: a refusal is counted under the
// code of its problem.
//
// One job of a kind runs at a time. Two jobs would take turns with the same attempts, and their results would depend on chance.
// Each job is one act in the audit log, with an entry of its beginning and one of its end.
package bulk
