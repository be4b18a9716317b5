package render

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

// Each code says whether a new key may be used, and a code that may leave the outcome open says no.
func TestEachCodeSaysWhetherANewKeyIsSafe(t *testing.T) {
	t.Parallel()
	advises := regexp.MustCompile(`with a new key`)
	for _, k := range kinds() {
		require.NotZero(t, k.newKey, "%s does not say whether a new key is safe", k.code)
		if k.status >= 500 && k.code != "account-paused" { // it begins nothing by this account
			require.Equal(t, unsafe, k.newKey, "%s may hide an executed request", k.code)
		}
		if k.retryable && k.status < 500 && k.code != "quota-exceeded" { // the key is looked up before the quota
			require.Equal(t, unsafe, k.newKey, "%s is lifted by time: the same key may be used then", k.code)
		}
		if advises.MatchString(k.detail) && k.code != keyReused {
			require.Equal(t, safe, k.newKey, "%s advises a new key", k.code)
		}
	}
	for code, want := range map[string]newKey{
		"validation-failed": safe, "not-found": safe, "quota-exceeded": safe, "refund-exceeds-payment": safe, "order-changed": safe,
		"storage-unavailable": unsafe, "internal": unsafe, "request-in-progress": unsafe, "payment-in-progress": unsafe, "order-already-paid": unsafe,
		keyReused: unsafe, "unauthenticated": unsafe, "rate-limited": unsafe,
	} {
		require.Equal(t, want, NewCatalogue(New(time.Now, 0), 0).byCode[code].newKey, code)
	}
}

// A quota that counts before the key is looked up proves nothing about the key.
func TestAnEarlyRefusalProvesNothing(t *testing.T) {
	t.Parallel()
	c := NewCatalogue(New(time.Now, 0), 0)
	quota := &idempotency.QuotaError{RetryAfter: time.Second}
	require.True(t, c.Document("", quota).SafeNewKey)
	early := c.Document("", &EarlyError{quota})
	require.False(t, early.SafeNewKey)
	require.Equal(t, "quota-exceeded", early.Code)
	require.NotNil(t, early.RetryAfterMs)
}
