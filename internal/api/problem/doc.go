// Package problem makes the RFC 9457 documents of error responses. One table maps errors to codes; each code has its status,
// its title and the next step for the caller.
package problem
