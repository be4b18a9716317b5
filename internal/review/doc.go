// Package review is what a person has to look at: discrepancies, how each is explained
// and can be resolved, and what its resolution does.
package review
