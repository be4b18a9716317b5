package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/config"
)

// An answer is not cut off while its command may still be under way.
func TestNewServerWriteTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wait, lease, least time.Duration }{
		{5 * time.Second, 30 * time.Second, 90 * time.Second},
		{2 * time.Minute, 30 * time.Second, 2*time.Minute + 31*time.Second},
		{5 * time.Second, 5 * time.Minute, 5*time.Minute + 6*time.Second},
	} {
		s := newServer(&config.Config{Idempotency: config.Idempotency{Wait: c.wait, Lease: c.lease}}, http.NotFoundHandler(), zerolog.Nop())
		require.GreaterOrEqual(t, s.WriteTimeout, c.least)
		require.Less(t, s.WriteTimeout, c.least+time.Minute, "and nobody holds a connection for ever")
	}
}
