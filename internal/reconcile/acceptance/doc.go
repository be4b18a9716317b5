// Package acceptance tests the purpose of reconciliation: after a month at a provider that loses webhooks, every amount
// here equals the provider's. Everything is real except the clock, which the process, the database and the sandbox
// share.
package acceptance
