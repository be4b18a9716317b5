package doctor

import (
	"context"
	"fmt"
)

// DataKeys are the data keys of provider messages; *envelope.Keys in the program.
type DataKeys interface {
	// Closed returns how many of them encryption_keys does not decrypt.
	Closed(ctx context.Context) (int, error)
}

// OfDataKeys is the check of the data keys of provider messages.
func OfDataKeys(k DataKeys) Check {
	return Check{Name: "data keys", After: answers, Run: func(ctx context.Context) []Finding {
		n, err := k.Closed(ctx)
		if err != nil || n == 0 {
			return failed("encryption_keys", err, "configure the service's encryption_keys, and check whether the database responds")
		}
		return []Finding{{
			Check: "encryption_keys", Problem: fmt.Sprintf("%d data keys are encrypted with a key that is missing: provider messages under these data keys can't be shown", n),
			Remedy: "add the missing key at the end of encryption_keys",
		}}
	}}
}
