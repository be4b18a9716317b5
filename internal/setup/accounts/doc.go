// Package accounts builds the adapters and the verifiers of the configured accounts.
//
// A Set holds the accounts in use. Reload replaces the accounts whose configuration has changed, without a stop. Work that has
// begun continues with the old adapter or verifier; later work takes the new one. An account that has not changed keeps its
// adapter, and with it the state of its circuit breaker and of its limit of calls.
//
// Reload takes no ability from an account, since attempts may still be open. An account stays as it was until the next start if
// it is gone from the configuration, if its kind has changed, or if it could charge or take webhooks and no longer can. To pause
// its pays or its webhooks, use `enabled`.
package accounts
