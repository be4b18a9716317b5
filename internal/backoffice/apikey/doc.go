// Package apikey makes, lists and revokes the API keys of the merchant's programs.
//
// Each change is in the audit log, written in the same transaction. Package auth authenticates the bearers of keys.
package apikey
