// Package acceptance has the test of what reconciling is for: a month at a provider that loses webhooks, after which every amount here
// is the provider's. Everything is real but the clock, which the process, the database and the sandbox share.
package acceptance
