package rehearse

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	t.Parallel()
	one := Charge{"1999", "EUR", "a"}
	results := []Result{
		{Course: "plain", Story: "The customer pressed the button once.", Charges: []Charge{one}, Page: Paid},
		{Course: "double press", Story: "Pressed.", Charges: []Charge{one, one}, Page: Failed},
		{Course: "slow", Story: "Slow.", Charges: []Charge{}, Page: Paid},
		{Course: "killed", Story: "Killed.", Charges: []Charge{{}, {}, {}}, Page: Silent, Text: "Please \x1bwait"},
	}
	for i := range results {
		results[i].judge(i == 1)
	}
	var out strings.Builder
	p := &printer{out: &out}
	for _, r := range results {
		p.print(r)
	}
	require.NoError(t, p.sum())
	require.Equal(t, `ok      plain: The customer pressed the button once. The provider charged once: 1999 EUR. The page shows that the order is paid.
FAILED  double press: Pressed. The provider charged twice: 1999 EUR, 1999 EUR. The page shows a failure.
        contradiction: the page shows a failure although the customer was charged
        note: no request that pays came through the proxy, so the fault had no effect: set request in the script
FAILED  slow: Slow. The provider charged nothing. The page shows that the order is paid.
        contradiction: the page shows a paid order that was not charged
FAILED  killed: Killed. The provider charged 3 times. The page shows no end: "Please \x1bwait".
        contradiction: the page shows no end although the customer was charged
4 courses: 1 charged exactly once, 3 not
`, out.String())

	out.Reset()
	p = &printer{out: &out, json: true}
	for _, r := range results {
		p.print(r)
	}
	require.NoError(t, p.sum())
	var got struct {
		OK      int      `json:"ok"`
		Failed  int      `json:"failed"`
		Courses []Result `json:"courses"`
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.Equal(t, 1, got.OK)
	require.Equal(t, 3, got.Failed)
	require.Equal(t, "1999", got.Courses[1].Charges[1].Amount)
	require.Equal(t, results[3].Contradiction, got.Courses[3].Contradiction)
}
