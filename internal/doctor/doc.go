// Package doctor finds what will hurt a running service, each finding with what to do about it. The fatal findings are also what
// keeps the service from starting.
package doctor
