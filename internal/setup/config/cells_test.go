package config_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// inCells is a service of three cells.
const inCells = `
environment: test
database_url: postgres://u:p@db0/paylatch
database: {read_url: "postgres://u:p@standby0/paylatch"}
encryption_keys: [{id: k1, key: ` + encryptionKey + `}]
auth: {hs256: [{id: shop, secret: of the shop in this test of the file, roles: [service]}]}
accounts:
  - {name: home, kind: sandbox, base_url: http://127.0.0.1:9090, webhook_secrets: [` + webhook + `]}
  - {name: eu, cell: 1, kind: sandbox, base_url: http://127.0.0.1:9090, webhook_secrets: [` + webhook + `]}
  - {name: us, cell: 7, kind: sandbox, base_url: http://127.0.0.1:9090, webhook_secrets: [` + webhook + `]}
cells:
  - {number: 1, database_url: "postgres://u:p@db1/paylatch", order_prefixes: [eu-, uk-]}
  - {number: 7, database_url: "postgres://u:p@db7/paylatch", read_url: "postgres://u:p@standby7/paylatch", order_prefixes: [us-]}
`

func TestCells(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, inCells), nil)
	require.NoError(t, err)
	require.Equal(t, []payment.Cell{0, 1, 7}, c.Numbers())
	for n, want := range map[payment.Cell]struct{ account, host, standby, dir string }{
		0: {"home", "db0", "standby0", ".paylatch"},
		1: {"eu", "db1", "", ".paylatch/cell-1"},
		7: {"us", "db7", "standby7", ".paylatch/cell-7"},
	} {
		in := c.In(n)
		require.Equal(t, n, in.Cell)
		require.Len(t, in.Accounts, 1)
		require.Equal(t, want.account, in.Accounts[0].Name)
		require.Equal(t, want.account, in.DefaultAccount)
		require.Contains(t, string(in.DatabaseURL), want.host)
		require.Equal(t, want.standby != "", in.Database.ReadURL != "")
		require.Contains(t, string(in.Database.ReadURL), want.standby)
		require.Equal(t, want.dir, in.DataDir)
	}
	require.Len(t, c.Accounts, 3, "the whole is as it was")

	of := func(n payment.Cell) string { return n.NewID().String() }
	for args, want := range map[string]payment.Cell{
		"--account=us --from=x": 7, "--account=eu": 1, "--account=gone": 0, "--key=" + of(1) + " " + of(7): 7, of(5): 0,
		"--order=uk-9": 1, "--order=ord_" + of(1): 1,
		of(1) + " --json=true": 1,
	} {
		n, found := c.CellOfArgs(strings.Fields(args))
		require.Equal(t, want, n, args)
		require.True(t, found, args)
	}
	for _, args := range []string{"", "--id=[" + of(7) + "]", "--user=" + of(7), "--reason=" + of(1), uuid.NewString()[:8]} {
		n, found := c.CellOfArgs(strings.Fields(args))
		require.Equal(t, payment.OnlyCell, n, args)
		require.False(t, found, args)
	}
}

func TestCellsAreChecked(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"number: 7>number: 1":    "cells[1].number: an earlier cell has the same number",
		"number: 7>number: 0":    "cells[1].number: must be 1 to 1023",
		"number: 7>number: 1024": "cells[1].number: must be 1 to 1023",
		"number: 7, database_url: \"postgres://u:p@db7/paylatch\",>number: 7,": "cells[1].database_url: is missing",
		"postgres://u:p@db7/paylatch>mysql://db7":                              "cells[1].database_url: must be postgres://",
		"postgres://u:p@standby7/paylatch>mysql://db7":                         "cells[1].read_url: must be postgres://",
		"[us-]>[eu-2]":            "cells[1].order_prefixes[0]: overlaps with an earlier prefix",
		"[us-]>[e]":               "cells[1].order_prefixes[0]: overlaps with an earlier prefix",
		"[us-]>[or]":              "cells[1].order_prefixes[0]: overlaps with ord_, the prefix of order ids",
		"[us-]>[\"a b\"]":         "cells[1].order_prefixes[0]: must be 1 to 64",
		"us, cell: 7>us, cell: 8": "accounts[2].cell: must be the number of a configured cell, or 0",
		"us, cell: 7>us, cell: 1": "cells[0].default_account: several accounts of the cell can charge; choose one of eu, us",
		"environment: test>environment: test\ndefault_account: eu":                                  "default_account: the account is in cell 1; choose an account of cell 0",
		"[us-]>[us-], default_account: home":                                                        "cells[1].default_account: the account is in cell 0; choose an account of cell 7",
		"[us-]>[us-], default_account: moon":                                                        "cells[1].default_account: is not among the accounts",
		"database: {>database: {pooler: transaction, direct_url: \"postgres://u:p@db0/paylatch\", ": "cells[0].direct_url: is missing",
	} {
		from, to, _ := strings.Cut(change, ">")
		require.Contains(t, inCells, from)
		found := validationErrors(t, strings.Replace(inCells, from, to, 1))
		require.Contains(t, strings.Join(found, "\n"), want, change)
	}
}
