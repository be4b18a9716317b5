package robokassa_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/robokassa"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "robokassa", robokassa.New, providertest.Texts("md5 none", func(t *testing.T, v providertest.Vector) []byte {
		t.Helper()
		values := strings.Split(v.SignedString, ":")
		require.Greater(t, len(values), 3)
		return robokassa.Sum(v.Algo, values[0], values[1], values[2], values[3:]...)
	}))
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "robokassa", newVerifier(t), nil)
}
