// Package rehearse pays at a shop's checkout page in a browser, under the faults of a bad network, and counts the charges.
//
//	courses ─► customer ─► page ─► browser: Chromium, by its DevTools protocol over a pipe
//	                                  │
//	                                  ▼
//	                               network: a proxy; package faults breaks the requests that pay ─► the shop
//	counter ─► the test provider's list of charges, before and after each course
//
// Each course is one order in a fresh profile of the browser. A course holds if the provider has charged the order once.
package rehearse
