// Package schedule decides when operations are due: the backoff between tries, the give-up
// threshold, and how long an attempt may stay unfinished.
package schedule
