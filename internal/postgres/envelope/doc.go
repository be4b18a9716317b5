// Package envelope encrypts the bytes of webhooks (table event_bytes) by envelope encryption. Each calendar month (UTC)
// has a data key, and encryption_keys encrypt the data keys.
//
//	encryption_keys ─► data_keys, one a month ─► event_bytes, a partition a month
//
// Data older than the configured age is deleted by the month: its key is deleted and its partition dropped, in one
// transaction. No row is touched for that. Remains of the rows elsewhere, in free pages, in the log of writes or in a
// copy of the one table, can't be read any more. Before that, the data that an event still needs is encrypted with the
// key of the present month.
//
// A data key that no key of encryption_keys opens never stops the intake: the month gets another one.
package envelope
