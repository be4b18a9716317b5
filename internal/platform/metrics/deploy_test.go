package metrics_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	rules     = "../../../deploy/prometheus/rules.yaml"
	rulesTest = "../../../deploy/prometheus/rules_test.yaml"
	outage    = "../../../deploy/prometheus/outage_test.yaml"
	slo       = "../../../deploy/prometheus/slo.yaml"
	sloTest   = "../../../deploy/prometheus/slo_test.yaml"
	dashboard = "../../../deploy/grafana/paylatch.json"
)

var update = flag.Bool("update", false, "write the table of alerts in docs/how-to/operate.md")

// query is an expression of a rule or a panel, and the texts that show its result.
type query struct {
	of, expr string
	shown    []string
}

var (
	selector = regexp.MustCompile(`(paylatch[_:][\w:]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping = regexp.MustCompile(`\b(?:by|on)\s*\(([^)]*)\)`)
	template = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}`)
)

// An alert on a metric that does not exist never fires, and its panel stays empty without an error.
func TestDeployedQueriesAskForWhatIsCounted(t *testing.T) {
	t.Parallel()
	labels := counted(t)
	maps.Copy(labels, recorded(t))
	for _, q := range append(ruled(t), drawn(t)...) {
		known := []string{"instance", "job"} // labels of the scrape
		for _, s := range selector.FindAllStringSubmatch(q.expr, -1) {
			require.Contains(t, labels, s[1], q.of)
			of := append([]string{"instance"}, labels[s[1]]...)
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
				require.Contains(t, of, m[1], "%s: %s", q.of, s[0])
			}
			known = append(known, of...)
		}
		var kept []string
		groupings := grouping.FindAllStringSubmatch(q.expr, -1)
		for _, g := range groupings {
			kept = append(kept, strings.Split(strings.ReplaceAll(g[1], " ", ""), ",")...)
		}
		require.Subset(t, known, kept, q.of)
		if len(groupings) == 0 {
			kept = known
		}
		for _, label := range template.FindAllStringSubmatch(strings.Join(q.shown, " "), -1) {
			require.Contains(t, kept, label[1], q.of)
		}
	}
}

// counted lists the served metrics with their labels.
func counted(t *testing.T) map[string][]string {
	t.Helper()
	families, err := counting().Gatherer().Gather()
	require.NoError(t, err)
	all := map[string][]string{}
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		all[f.GetName()] = labels
		if f.GetMetric()[0].GetHistogram() != nil {
			all[f.GetName()+"_count"], all[f.GetName()+"_sum"] = labels, labels
			all[f.GetName()+"_bucket"] = append(slices.Clone(labels), "le")
		}
	}
	return all
}

// recorded lists the series of the recording rules with their labels.
func recorded(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, r := range deployedRules(t) {
		if r.Record != "" {
			require.True(t, strings.HasPrefix(r.Record, "paylatch:slo_"), r.Record)
			all[r.Record] = []string{"slo"}
		}
	}
	return all
}

func ruled(t *testing.T) (all []query) {
	t.Helper()
	for _, r := range deployedRules(t) {
		all = append(all, query{r.Alert + r.Record, r.Expr, []string{r.Annotations["summary"], r.Annotations["description"]}})
	}
	return all
}

// rule is an alert or a recording rule.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

func deployedRules(t *testing.T) (all []rule) {
	t.Helper()
	for _, path := range []string{rules, slo} {
		var file struct {
			Groups []struct{ Rules []rule }
		}
		require.NoError(t, yaml.Unmarshal(read(t, path), &file))
		require.NotEmpty(t, file.Groups, path)
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	t.Parallel()
	tested := string(read(t, rulesTest)) + string(read(t, outage)) + string(read(t, sloTest))
	for _, a := range deployedRules(t) {
		if a.Alert == "" {
			continue
		}
		require.NotEmpty(t, a.For, a.Alert)
		require.Contains(t, []string{"critical", "warning"}, a.Labels["severity"], a.Alert)
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.NotEmpty(t, a.Annotations["description"], a.Alert)
		page, heading, _ := strings.Cut(a.Annotations["runbook"], "#")
		require.Contains(t, headings(t, page), heading, a.Alert)
		require.Contains(t, tested, `alertname="`+a.Alert+`"`, "no test sees it fire")
	}
}

// TestOperateListsTheAlerts compares the table of the operator's guide with the severities and runbooks of the rules.
func TestOperateListsTheAlerts(t *testing.T) {
	t.Parallel()
	const page, begin, end = "docs/how-to/operate.md", "<!-- alerts:begin -->\n", "<!-- alerts:end -->"
	text := string(read(t, "../../../"+page))
	head, rest, begun := strings.Cut(text, begin)
	shown, tail, ended := strings.Cut(rest, end)
	require.True(t, begun && ended, page)
	want := alertsTable(t)
	if *update && shown != want {
		require.NoError(t, os.WriteFile("../../../"+page, []byte(head+begin+want+end+tail), 0o644))
		shown = want
	}
	require.Equal(t, want, shown, "run with -update")
}

// alertsTable has a line for each runbook, the runbooks of critical alerts first.
func alertsTable(t *testing.T) string {
	t.Helper()
	bySeverity := map[string]map[string][]string{"critical": {}, "warning": {}}
	var runbooks []string
	for _, severity := range []string{"critical", "warning"} {
		for _, a := range deployedRules(t) {
			if runbook := a.Annotations["runbook"]; a.Alert != "" && a.Labels["severity"] == severity {
				bySeverity[severity][runbook] = append(bySeverity[severity][runbook], "`"+a.Alert+"`")
				if !slices.Contains(runbooks, runbook) {
					runbooks = append(runbooks, runbook)
				}
			}
		}
	}
	var table strings.Builder
	table.WriteString("| runbook | wakes a person (`critical`) | can wait until morning (`warning`) |\n|---|---|---|\n")
	for _, runbook := range runbooks {
		page, heading, _ := strings.Cut(runbook, "#")
		title := sections(t, page)[slices.Index(headings(t, page), heading)]
		link := strings.TrimPrefix(strings.TrimPrefix(runbook, "docs/how-to/"), "operate.md")
		fmt.Fprintf(&table, "| [%s](%s) | %s | %s |\n", title, link,
			strings.Join(bySeverity["critical"][runbook], ", "), strings.Join(bySeverity["warning"][runbook], ", "))
	}
	return table.String()
}

// headings lists a page's sections as links name them.
func headings(t *testing.T, page string) (all []string) {
	t.Helper()
	for _, title := range sections(t, page) {
		plain := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(title), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// sections lists the titles of a page's sections.
func sections(t *testing.T, page string) (titles []string) {
	t.Helper()
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(read(t, "../../.././"+page)), -1) {
		titles = append(titles, h[1])
	}
	return titles
}

type panel struct {
	Type, Title string
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, LegendFormat string }
	Datasource  struct{ UID string }
}

func drawn(t *testing.T) (all []query) {
	t.Helper()
	var file struct{ Panels []panel }
	require.NoError(t, json.Unmarshal(read(t, dashboard), &file)) //nolint:musttag // the names are Grafana's
	for _, p := range file.Panels {
		if p.Type == "row" {
			continue
		}
		require.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.Contains(t, target.Expr, `instance=~"$instance"`, p.Title)
			all = append(all, query{p.Title, target.Expr, []string{target.LegendFormat}})
		}
	}
	require.NotEmpty(t, all)
	return all
}

// Prometheus itself checks the rules, and parses the dashboard's queries.
func TestPrometheusTakesRulesAndQueries(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not in the PATH; Debian has it in the package prometheus")
	}
	panels := filepath.Join(t.TempDir(), "panels.yaml")
	require.NoError(t, os.WriteFile(panels, recording(t), 0o600))
	for _, args := range [][]string{
		{"check", "rules", rules, slo, panels},
		{"test", "rules", rulesTest},
		{"test", "rules", outage},
		{"test", "rules", sloTest},
	} {
		said, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
}

// recording makes a rule of each of the dashboard's queries.
func recording(t *testing.T) []byte {
	t.Helper()
	type panelRule struct{ Record, Expr string }
	var all []panelRule
	for i, q := range drawn(t) {
		expr := strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*").Replace(q.expr)
		require.NotContains(t, expr, "$", q.of)
		all = append(all, panelRule{fmt.Sprintf("panel:%d", i), expr})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": all}}})
	require.NoError(t, err)
	return text
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}
