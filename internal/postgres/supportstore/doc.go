// Package supportstore reads what the support console shows: the search, the history of an attempt, events, discrepancies and the audit
// log. It implements the stores that package support defines.
//
// It locks nothing, and the one thing that it writes is the audit log, by itself or in the transaction of the audited act.
package supportstore
