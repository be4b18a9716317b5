package rehearse

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `
pay: "#pay"
success: {show: h1}
charges: {url: "http://127.0.0.1:1/list?order={{n}}", where: {order: "o-{{n}}"}}
`

func TestRead(t *testing.T) {
	t.Parallel()
	s, err := Read(strings.NewReader(small + `
steps:
- open: /cart?{{n}}
- fill: "#name"
  value: N{{n}}
- press: "#next"
- wait: "#card"
- fill: "#card"
  value: ""
`))
	require.NoError(t, err)
	require.Equal(t, defaultLimit, s.Limit)
	require.Len(t, s.again(), 2, "the steps after the last press")

	filled := s.of("7")
	require.Equal(t, "/cart?7", filled.Steps[0].Open)
	require.Equal(t, "N7", *filled.Steps[1].Value)
	require.Equal(t, "http://127.0.0.1:1/list?order=7", filled.Charges.URL)
	require.Equal(t, map[string]string{"order": "o-7"}, filled.Charges.Where)
	require.Equal(t, "N{{n}}", *s.Steps[1].Value, "the script itself stays")

	s, err = Read(strings.NewReader(`{"pay": "#pay", "limit": "5s", "success": {"show": "h1"}, "charges": {"command": ["count", "{{n}}"]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"count", "7"}, s.of("7").Charges.Command)
}

func TestReadNamesAllErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		small + "succes: {show: h1}":                      "line 5: no such key: succes; did you mean success?",
		small + "steps: [{pres: a}]":                      "line 5: no such key: pres; did you mean press?",
		small + "steps: [{press: a, wait: b}]":            "steps: number 1: a step is one of open, press, fill and wait",
		small + "then: [{fill: a}]":                       "then: number 1: fill and value belong together",
		small + "steps: [{press: a, text: b}]":            "steps: number 1: text belongs to wait",
		small + "failure: {text: no}":                     "failure.show is missing",
		small + "limit: -1s":                              "limit must be above 0",
		"success: {show: a}\ncharges: {url: b}":           "pay is missing",
		"pay: a\ncharges: {url: b}":                       "success.show is missing",
		"pay: a\nsuccess: {show: b}":                      "charges needs either url or command",
		"pay: [":                                          "the script is not YAML",
		small + "steps: 7":                                "cannot unmarshal",
		small + "charges2: {}\nsteps: [{a: b}, {c: d}]\n": "line 6: no such key: c",
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}

// TestScriptsOfExamples reads the scripts that the documentation names.
func TestScriptsOfExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../../examples/naive-shop/rehearse.yaml", "testdata/demo.yaml"} {
		f, err := os.Open(name)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		_, err = Read(f)
		require.NoError(t, err, name)
	}
}
