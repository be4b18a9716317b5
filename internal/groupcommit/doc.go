// Package groupcommit lets callers with items that come at the same time share one flush: a
// transaction, a read, an fsync.
//
// A caller enqueues its items and waits. The first one to find a flush due starts a leader, a
// goroutine that flushes batch after batch and ends when none is due; all callers are
// followers. A lone item is flushed at once. Items that come while a flush is under way
// coalesce into the next batch, which becomes due
//
//   - when no flush is under way, or
//   - when the last flush was sent (it has read what it needs and only waits to be written) and
//     half of the peak concurrency waits, since each item of a large batch costs less, or
//   - after the linger, if the flush under way takes longer than that.
//
// One flush at a time is read and sent, so that batches are sent in the order of their items.
// A flush that stalls before it is sent is not waited for any longer.
//
// Guarantees, whatever a flush does:
//
//   - an item is in at most one flush at a time, and is returned to its caller once;
//   - batches under way have no conflict key in common, and items that share one are flushed
//     in the order in which they were enqueued;
//   - a panic is an error of the batch in which it happened;
//   - a poison message, an item for which a whole batch is rejected, is found by retrying
//     singly, and goes to quarantine.
//
// It deliberately keeps nothing: an item that was not returned without an error is its
// caller's to enqueue again.
package groupcommit
