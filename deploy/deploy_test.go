// Package deploy_test checks the files by which a release is installed. Files that name metrics, and the manifests of Kubernetes, are
// checked beside the code of metrics and configurations.
package deploy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/paylatch/paylatch/internal/setup/config"
)

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// requireConfiguration loads a configuration with values for the variables that it names. It returns their names.
func requireConfiguration(t *testing.T, text string) (names []string) {
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
	return names
}

// TestPackageConfiguration: the installed configuration is complete once the installed environment has values.
func TestPackageConfiguration(t *testing.T) {
	t.Parallel()
	names := requireConfiguration(t, read(t, "package/paylatch.yaml"))
	given := []string{}
	for lines := bufio.NewScanner(strings.NewReader(read(t, "package/environment"))); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), "="); found && !strings.HasPrefix(name, "#") {
			require.Empty(t, value, "%s: a secret of everybody", name)
			given = append(given, name)
		}
	}
	require.ElementsMatch(t, names, given)
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
			requireConfiguration(t, given["paylatch.yaml"].(string))

			pods := at(all, "Deployment", "spec", "template", "metadata", "labels")
			require.NotEmpty(t, pods)
			for _, selector := range append(append(at(all, "Service", "spec", "selector"), at(all, "PodDisruptionBudget", "spec", "selector", "matchLabels")...),
				append(at(all, "NetworkPolicy", "spec", "podSelector", "matchLabels"), at(all, "PodMonitor", "spec", "selector", "matchLabels")...)...) {
				require.Condition(t, func() bool { return anySelected(selector, pods) }, "%v selects none of %v", selector, pods)
			}
		})
	}
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
