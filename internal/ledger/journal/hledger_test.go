package journal_test

import (
	"context"
	"encoding/csv"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// contextOf is the context of a test, or of a draw.
func contextOf(t require.TestingT) context.Context {
	if of, ok := t.(interface{ Context() context.Context }); ok {
		return of.Context()
	}
	return context.Background()
}

// hledgerOf returns a function that runs hledger on a journal. It skips the test where there is no hledger.
func hledgerOf(t *testing.T) func(text string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("hledger")
	if err != nil {
		t.Skip("hledger is not in the PATH; Debian has it in the package hledger")
	}
	return func(text string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-f", "-"}, args...)...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "hledger %v: %s\n%.10000s", args, out, text)
		return string(out)
	}
}

// TestHLedgerReadsTheJournal: hledger accepts random months by its strict checks, in the order of their days, and finds the same
// balances in them.
func TestHLedgerReadsTheJournal(t *testing.T) {
	t.Parallel()
	hledger := hledgerOf(t)
	months := []*book{sample(), {}}
	for seed := range 8 {
		months = append(months, rapid.Custom(drawnBook).Example(seed))
	}
	for _, b := range months {
		text := written(t, b, journal.HLedger)
		hledger(text, "check", "--strict", "ordereddates")
		lines, err := csv.NewReader(strings.NewReader(hledger(text, "bal", "--flat", "--layout", "bare", "--no-total", "-O", "csv"))).ReadAll()
		require.NoError(t, err)
		got, want := sums{}, sums{}
		for _, line := range lines[1:] {
			got.add(line[0], minorUnits(t, line[2], line[1]))
		}
		require.NoError(t, journal.Journal{Store: b, Month: october}.Each(t.Context(), func(one journal.Transaction) error {
			for _, p := range one.Postings {
				want.add(p.Account, p.Money)
			}
			return nil
		}))
		for _, of := range []sums{got, want} {
			for account, all := range of {
				if len(nonzero(all)) == 0 {
					delete(of, account)
				}
			}
		}
		require.Equal(t, want, got)
	}
}

// minorUnits reads an amount of hledger.
func minorUnits(t *testing.T, amount, commodity string) payment.Money {
	t.Helper()
	if code, units := strings.CutSuffix(commodity, " minor units"); units {
		minor, err := strconv.ParseInt(amount, 10, 64)
		require.NoError(t, err)
		return payment.Money{Minor: minor, Currency: payment.Currency(code)}
	}
	digits, negative := strings.CutPrefix(amount, "-")
	m, err := webhooks.ParseDecimal(digits, commodity)
	require.NoError(t, err)
	if negative {
		m.Minor = -m.Minor
	}
	return payment.Money{Minor: m.Minor, Currency: payment.Currency(commodity)}
}
