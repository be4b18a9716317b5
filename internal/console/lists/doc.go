// Package lists shows payments, orders and refunds by the filters of the API's lists, a page at a time, newest first, and hands the same out
// as a file.
//
// Amounts are typed in major units, as people write them, and days as days of UTC. Each look, and each file, is in the audit log with its
// filter.
package lists
