package doctor

import (
	"context"
	"strings"
)

// APIKeys are the API keys; *postgres.APIKeyStore in the program.
type APIKeys interface {
	// Idle returns some names of valid keys that were not used for 90 days.
	Idle(ctx context.Context) ([]string, error)
}

// OfAPIKeys is the check of the API keys.
func OfAPIKeys(k APIKeys) Check {
	return Check{Name: "API keys", After: answers, Run: func(ctx context.Context) []Finding {
		names, err := k.Idle(ctx)
		if err != nil || len(names) == 0 {
			return failed("API keys", err, "check whether the database responds")
		}
		return []Finding{{
			Check: "API keys", Problem: "these keys were not used for 90 days and are still valid: " + strings.Join(names, ", "),
			Remedy: "revoke the keys that no program needs: `paylatch key list`, `paylatch key revoke ID`",
		}}
	}}
}
