package render_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api/render"
)

type item struct {
	Amount   int64          `json:"amount"`
	Currency string         `json:"currency"`
	Text     string         `json:"text"`
	Metadata map[string]any `json:"metadata"`
}

func written(t *testing.T, items ...item) string {
	t.Helper()
	w := httptest.NewRecorder()
	require.NoError(t, render.WriteExport(w, render.CSV, items, func() ([]item, bool, error) { return nil, false, nil }))
	text, marked := strings.CutPrefix(w.Body.String(), "\ufeff")
	require.True(t, marked)
	return text
}

// TestNoCellIsAFormula reads the written table as spreadsheets do in countries with a comma, a semicolon or a tab.
func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff201", " =1", "\u200b=1", "\"=1\"", "\u00a0=1",
		"Ticket;=cmd|' /C calc'!A0", "Ticket; =1", "Ticket;\"=1\"", "Ticket;;\uff1d1", "Ticket\t=1", "Ticket\n=1", "Ticket\r\n@1", "Ticket,=1", "Ticket\";\"=1",
	} {
		out := written(t, item{1, "EUR", text, map[string]any{"note": text, text: "x"}})
		for _, comma := range []rune{',', ';', '\t'} {
			for _, line := range strings.FieldsFunc(out, func(r rune) bool { return r == '\n' || r == '\r' }) {
				require.False(t, formula(line, comma), "%q as of %q: %q", text, comma, line)
			}
		}
		r := csv.NewReader(strings.NewReader(out))
		lines, err := r.ReadAll()
		require.NoError(t, err)
		for _, cell := range lines[1] {
			require.NotContains(t, "=+-@\t\r\uff1d\uff0b\uff0d\uff20", string([]rune(cell)[:1]), "%q", cell)
		}
		var metadata map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[1][4]), &metadata), lines[1][4])
		require.Equal(t, text, metadata["note"], "JSON says what it said")
	}
}

// formula reports whether a cell of a line begins a formula, quotes being no help where a spreadsheet sees them within a cell.
func formula(line string, comma rune) bool {
	if comma == ',' {
		return false // quotes hold there, which is read below
	}
	for cell := range strings.SplitSeq(line, string(comma)) {
		cell = strings.Trim(cell, "\" \u00a0\u200b")
		if cell != "" && strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", []rune(cell)[0]) {
			return true
		}
	}
	return false
}

func TestAmountsInMajorUnits(t *testing.T) {
	t.Parallel()
	lines, err := csv.NewReader(strings.NewReader(written(t, item{1999, "EUR", "M\u00fcller", nil}, item{500, "JPY", "", nil}, item{-1, "KWD", "", nil}, item{1, "XQQ", "", nil}))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"amount", "amount_major", "currency", "text", "metadata"}, lines[0])
	require.Equal(t, "M\u00fcller", lines[1][3])
	for i, want := range []string{"19.99", "500", "-0.001", ""} {
		require.Equal(t, want, lines[i+1][1])
	}
}
