package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

func TestEverySessionHasLimits(t *testing.T) {
	t.Parallel()
	conns := usual(t, testdb.With(t, testdb.New(t), "connect_timeout", "120")).Conns()
	for range conns.Config().MaxConns {
		conn, err := conns.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		for setting, want := range map[string]string{
			"lock_timeout": "5s", "statement_timeout": "5s", "idle_in_transaction_session_timeout": "5s", "TimeZone": "UTC",
			"transaction_isolation": "read committed",
		} {
			require.Equal(t, want, testdb.One[string](t, conn.Conn(), "SHOW "+setting), setting)
		}
	}
}

func TestTheAddressMaySetOtherLimits(t *testing.T) {
	t.Parallel()
	conn, err := usual(t, testdb.With(t, testdb.New(t), "lock_timeout", "70ms", "connect_timeout", "120")).Conns().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.Equal(t, "70ms", testdb.One[string](t, conn.Conn(), "SHOW lock_timeout"))
	require.Equal(t, "5s", testdb.One[string](t, conn.Conn(), "SHOW statement_timeout"))
}

func TestTheAddressSaysHowManyConnectionsThereAre(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int32{
		"postgres://db/paylatch":                    10,
		"postgres://db/paylatch?pool_max_conns=3":   3,
		"host=db dbname=paylatch pool_max_conns=40": 40,
	} {
		require.Equal(t, want, usual(t, address).Conns().Config().MaxConns, address)
	}
}

func TestTheAddressSaysHowLongConnectingMayTake(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]time.Duration{
		"postgres://db/paylatch":                    time.Second,
		"postgres://db/paylatch?connect_timeout=7":  7 * time.Second,
		"host=db dbname=paylatch connect_timeout=3": 3 * time.Second,
	} {
		require.Equal(t, want, usual(t, address).Conns().Config().ConnConfig.ConnectTimeout, address)
	}
}
