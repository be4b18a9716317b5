// Package accounts builds the configured accounts: what is called at a provider, and what verifies its webhooks.
package accounts
