// Package supportstore reads the data of the support console: the search, the history of an attempt, events,
// discrepancies and the audit log. It implements the stores that package support defines.
//
// It locks nothing. It writes only the audit log, by itself or in the transaction of the audited action.
package supportstore
