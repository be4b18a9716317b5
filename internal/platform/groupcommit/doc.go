// Package groupcommit lets concurrent callers share one flush: a transaction, a read, an fsync.
//
// A caller enqueues its items and waits. The first caller to find a flush due starts a leader: a goroutine that flushes
// batch after batch and ends when no batch is due. All callers are followers. A lone item is flushed at once. Items that
// arrive during a flush coalesce into the next batch, which becomes due
//
//   - when no flush is under way, or
//   - when the last flush was sent (it has read its data and only waits to be written) and half of the peak concurrency waits,
//     since each item of a large batch costs less, or
//   - after the linger, if the flush under way takes longer than that.
//
// One flush at a time reads and sends, so that batches are sent in the order of their items. A flush that stalls before
// it is sent does not block the next flush for longer than the stall limit.
//
// Guarantees, for any behavior of a flush:
//
//   - an item is in at most one flush at a time, and is returned to its caller once;
//   - batches under way have no conflict key in common, and items that share a key are flushed in the order in which they were
//     enqueued;
//   - a panic is an error of the batch in which it happened;
//   - a poison message, an item that makes the whole batch fail, is found by retrying singly, and goes to quarantine.
//
// The package deliberately stores nothing: if an item was returned with an error, its caller must enqueue it again.
package groupcommit
