// Package accounts builds the configured accounts: what is called at a provider, and what verifies its webhooks.
//
// A Set is those in use. Reload replaces in it what has changed in the configuration, without a stop: whatever has taken
// an adapter or a verifier before goes on with that one, everything later takes the new one. An account that has not
// changed keeps its adapter, and with that the state of its circuit breaker and of its limit of calls.
//
// Nothing that an account can do is taken away by a Reload: of an account that is gone from the configuration, has become
// one of another kind, or could charge or take webhooks and no longer can, attempts may still be open. It stays as it was
// until the next start. `enabled` pauses its pays or its webhooks instead.
package accounts
