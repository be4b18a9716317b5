// Package problem makes the documents of RFC 9457 that errors are answered with: one table from error to code, and for
// each code its status, its title and what to do next.
package problem
