// Package deploy_test checks the files by which a release is installed. Files that name metrics, and the manifests of Kubernetes, are
// checked beside the code of metrics and configurations.
package deploy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/setup/config"
)

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// requireConfiguration loads a configuration with values for the variables that it names. It returns their names, too.
func requireConfiguration(t *testing.T, text string) (c *config.Config, names []string) {
	t.Helper()
	environ := []string{}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		value := "0123456789abcdef0123456789abcdef"
		switch name := m[1]; {
		case strings.HasSuffix(name, "_URL"):
			value = "postgres://paylatch@db.internal/" + strings.ToLower(name) + "?sslmode=verify-full"
		case strings.HasSuffix(name, "_KEY") && strings.HasPrefix(name, "ENCRYPTION"):
			value = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
		case strings.HasSuffix(name, "_WHSEC"):
			value = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		}
		names, environ = append(names, m[1]), append(environ, m[1]+"="+value)
	}
	path := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := config.Load(path, environ)
	require.NoError(t, err)
	require.NotEmpty(t, c.DefaultAccount, "it can charge")
	require.NotEmpty(t, c.OperationsListen, "the proxy is not led to /metrics")
	return c, names
}

// TestPackageConfiguration: the installed configuration is complete once the installed environment has values, and finds the files of the
// service in any working directory. Commands by the README get the same directory from systemd, and run as the user of the service.
func TestPackageConfiguration(t *testing.T) {
	t.Parallel()
	c, names := requireConfiguration(t, read(t, "package/paylatch.yaml"))
	given := []string{}
	for lines := bufio.NewScanner(strings.NewReader(read(t, "package/environment"))); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), "="); found && !strings.HasPrefix(name, "#") {
			require.Empty(t, value, "%s: a secret of everybody", name)
			given = append(given, name)
		}
	}
	require.ElementsMatch(t, names, given)

	unit, readme := read(t, "systemd/paylatch.service"), read(t, "README.md")
	state := regexp.MustCompile(`(?m)^StateDirectory=(\S+)$`).FindStringSubmatch(unit)
	require.Len(t, state, 2)
	require.Contains(t, c.DataDir, "/var/lib/"+state[1]+"/")
	require.Equal(t, filepath.Clean(c.DataDir), c.DataDir)
	command := regexp.MustCompile(`(?s)\nsystemd-run (.*?) paylatch doctor`).FindString(readme)
	for _, setting := range []string{"DynamicUser", "EnvironmentFile", "StateDirectory", "WorkingDirectory"} {
		line := regexp.MustCompile(`(?m)^` + setting + `=.*$`).FindString(unit)
		require.NotEmpty(t, line, setting)
		require.Contains(t, command, " -p "+line+" ")
	}
	require.Contains(t, command, " -p User=paylatch ", "the unit's name")
}

// TestChart checks what Helm makes of the chart with each file of values in ci/: the configuration is right, and the Service, the
// budget and the policy select the Pods.
func TestChart(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(rendered(t), "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			all := objects(t, read(t, file))
			given, found := at(all, "ConfigMap")[0]["data"].(map[string]any)
			require.True(t, found)
			_, _ = requireConfiguration(t, given["paylatch.yaml"].(string))
			requireScraped(t, all)

			pods := at(all, "Deployment", "spec", "template", "metadata", "labels")
			require.NotEmpty(t, pods)
			for _, selector := range append(append(at(all, "Service", "spec", "selector"), at(all, "PodDisruptionBudget", "spec", "selector", "matchLabels")...),
				append(at(all, "NetworkPolicy", "spec", "podSelector", "matchLabels"), at(all, "PodMonitor", "spec", "selector", "matchLabels")...)...) {
				require.Condition(t, func() bool { return anySelected(selector, pods) }, "%v selects none of %v", selector, pods)
			}
		})
	}
}

// TestManifestsAreScraped checks kubernetes/, as TestChart checks the chart.
func TestManifestsAreScraped(t *testing.T) {
	t.Parallel()
	requireScraped(t, objects(t, read(t, "kubernetes/paylatch.yaml")))
}

// discovery is the part of README's configuration of Prometheus that finds Pods.
type discovery struct {
	Find []struct {
		Role string
	} `yaml:"kubernetes_sd_configs"`
	Relabel []struct {
		From   []string `yaml:"source_labels"`
		Regex  string
		Action string
	} `yaml:"relabel_configs"`
}

// requireScraped: of the Pods of each Deployment Prometheus keeps the port with the metrics, and no other.
func requireScraped(t *testing.T, objects []map[string]any) {
	t.Helper()
	_, rest, found := strings.Cut(read(t, "README.md"), "In Kubernetes, replace the last line")
	require.True(t, found)
	var d discovery
	require.NoError(t, yaml.Unmarshal([]byte(strings.Split(rest, "```")[1][len("yaml"):]), &d))
	require.Len(t, d.Find, 1)
	require.Equal(t, "pod", d.Find[0].Role, "a Service selects Pods of one role only")
	pods := at(objects, "Deployment", "spec", "template")
	require.NotEmpty(t, pods)
	for _, pod := range pods {
		labels := map[string]string{"__meta_kubernetes_pod_phase": "Running"}
		for name, value := range pod["metadata"].(map[string]any)["labels"].(map[string]any) {
			labels["__meta_kubernetes_pod_label_"+regexp.MustCompile(`\W`).ReplaceAllString(name, "_")] = value.(string)
		}
		var kept []string
		for _, port := range portsOf(pod) {
			labels["__meta_kubernetes_pod_container_port_name"] = port
			if d.keeps(labels) {
				kept = append(kept, port)
			}
		}
		require.Equal(t, []string{"operations"}, kept, "%v", labels)
		labels["__meta_kubernetes_pod_container_port_name"], labels["__meta_kubernetes_pod_phase"] = "operations", "Failed"
		require.False(t, d.keeps(labels), "an evicted Pod")
	}
}

// portsOf returns the names of the ports of a Pod's containers.
func portsOf(pod map[string]any) (names []string) {
	for _, c := range pod["spec"].(map[string]any)["containers"].([]any) {
		for _, port := range c.(map[string]any)["ports"].([]any) {
			names = append(names, port.(map[string]any)["name"].(string))
		}
	}
	return names
}

// keeps reports whether Prometheus keeps a target with these labels.
func (d discovery) keeps(labels map[string]string) bool {
	for _, r := range d.Relabel {
		var values []string
		for _, name := range r.From {
			values = append(values, labels[name])
		}
		if regexp.MustCompile("^(?:"+r.Regex+")$").MatchString(strings.Join(values, ";")) != (r.Action == "keep") {
			return false
		}
	}
	return true
}

func anySelected(selector map[string]any, pods []map[string]any) bool {
	for _, labels := range pods {
		matches := len(selector) > 0
		for name, value := range selector {
			matches = matches && labels[name] == value
		}
		if matches {
			return true
		}
	}
	return false
}

// TestChartIsTheManifests: with its own values the chart makes what kubernetes/ has.
func TestChartIsTheManifests(t *testing.T) {
	t.Parallel()
	chart := plain(t, read(t, filepath.Join(rendered(t), "same-values.yaml")))
	var manifests []string
	for _, name := range []string{"paylatch", "networkpolicy", "ingress"} {
		manifests = append(manifests, read(t, "kubernetes/"+name+".yaml"))
	}
	require.Equal(t, plain(t, strings.Join(manifests, "\n---\n")), chart)
}

// rendered is the folder of what Helm made of the chart.
func rendered(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PAYLATCH_CHART")
	if dir == "" {
		t.Skip("PAYLATCH_CHART names no rendered chart: `make chart` runs this")
	}
	return dir
}

// plain returns the objects of a text by kind, without what only a chart has: labels of the release, the namespace, the registry.
func plain(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, o := range objects(t, text) {
		metadata := o["metadata"].(map[string]any)
		delete(metadata, "labels")
		delete(metadata, "namespace")
		kind := o["kind"].(string)
		if kind == "ConfigMap" {
			var c any
			require.NoError(t, yaml.Unmarshal([]byte(o["data"].(map[string]any)["paylatch.yaml"].(string)), &c))
			o["data"] = c
		}
		require.NotContains(t, all, kind)
		all[kind] = stripped(o)
	}
	return all
}

func stripped(node any) any {
	switch n := node.(type) {
	case map[string]any:
		for _, name := range []string{
			"app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/version", "app.kubernetes.io/managed-by",
			"helm.sh/chart", "checksum/config", "imagePullPolicy",
		} {
			// The label is also the Ingress controller's.
			if name != "app.kubernetes.io/component" || n[name] != "controller" {
				delete(n, name)
			}
		}
		for name, value := range n {
			if n[name] = stripped(value); name == "annotations" && len(value.(map[string]any)) == 0 {
				delete(n, name)
			}
		}
	case []any:
		for i := range n {
			n[i] = stripped(n[i])
		}
	case string:
		return strings.TrimPrefix(n, "registry.example/")
	}
	return node
}

// objects returns the objects of a text of several documents.
func objects(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if o != nil {
			all = append(all, o)
		}
	}
}

// at returns the maps at a path of all objects of a kind.
func at(objects []map[string]any, kind string, path ...string) (all []map[string]any) {
	for _, o := range objects {
		if o["kind"] != kind {
			continue
		}
		for _, name := range path {
			o, _ = o[name].(map[string]any)
		}
		all = append(all, o)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestIngressReachesPages: the Ingress leads to each address of this server in the pages that it leads to.
func TestIngressReachesPages(t *testing.T) {
	t.Parallel()
	document, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	e := echo.New()
	api.RouteSite(e, api.SiteOptions{Contract: document})
	rules := at(objects(t, read(t, "kubernetes/ingress.yaml")), "Ingress", "spec")[0]["rules"].([]any)
	paths := rules[0].(map[string]any)["http"].(map[string]any)["paths"].([]any)
	reached := func(address string) bool {
		return slices.ContainsFunc(paths, func(rule any) bool {
			path := rule.(map[string]any)["path"].(string)
			return address == path || rule.(map[string]any)["pathType"] == "Prefix" && strings.HasPrefix(address, path+"/")
		})
	}
	for _, page := range []string{"/docs", "/docs/index.html", "/problems"} {
		require.True(t, reached(page), page)
		got := httptest.NewRecorder()
		e.ServeHTTP(got, httptest.NewRequest(http.MethodGet, page, nil))
		require.Equal(t, http.StatusOK, got.Code, page)
		links := regexp.MustCompile(`(?:src|href)="(/[^"#?]*)`).FindAllStringSubmatch(got.Body.String(), -1)
		require.NotEmpty(t, links, page)
		for _, link := range links {
			require.True(t, reached(link[1]), "%s: %s", page, link[1])
		}
	}
	for _, internal := range []string{"/metrics", "/readyz", "/healthz"} {
		require.False(t, reached(internal), internal)
	}
}
