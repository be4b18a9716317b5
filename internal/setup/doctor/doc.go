// Package doctor finds problems of a running service before they do harm. Each finding has its remedy. A fatal finding also
// keeps the service from starting.
package doctor
