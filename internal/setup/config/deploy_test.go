package config_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// The services configured in deploy/ start with the variables that it gives, and use all of them.
func TestDeployedConfigurationsAreRight(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*testing.T) (text string, names []string){"compose": compose, "Kubernetes": kubernetes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, names := of(t)
			require.NotEmpty(t, names)
			var environ []string
			for _, n := range names {
				require.Contains(t, text, "${"+n+"}")
				environ = append(environ, n+"="+exampleValue(n))
			}
			c, err := config.Load(write(t, text), environ)
			require.NoError(t, err)
			require.Equal(t, ":8080", c.Listen)
			require.NotEmpty(t, c.DatabaseURL)
			require.Len(t, c.EncryptionKeys, 1, "replicas must share it")
			require.NotEmpty(t, c.DefaultAccount, "it can charge")
		})
	}
}

// compose returns the mounted configuration and the variables beside it.
func compose(t *testing.T) (text string, names []string) {
	t.Helper()
	var project struct {
		Services map[string]struct {
			Environment map[string]string
			Volumes     []string
		}
	}
	require.NoError(t, yaml.Unmarshal(deployed(t, "compose.yaml"), &project))
	for _, service := range []string{"migrate", "paylatch"} {
		s := project.Services[service]
		require.Contains(t, s.Volumes, "./paylatch.yaml:"+s.Environment["PAYLATCH_CONFIG"]+":ro")
	}
	for name := range project.Services["paylatch"].Environment {
		if !strings.HasPrefix(name, "PAYLATCH_") { // those need no place in the configuration
			names = append(names, name)
		}
	}
	return string(deployed(t, "paylatch.yaml")), names
}

// kubernetes returns the ConfigMap's configuration and the names in the command that
// makes the Secret.
func kubernetes(t *testing.T) (text string, names []string) {
	t.Helper()
	manifests := deployed(t, "kubernetes/paylatch.yaml")
	var first struct{ Data map[string]string }
	require.NoError(t, yaml.NewDecoder(bytes.NewReader(manifests)).Decode(&first))
	require.Contains(t, string(manifests), "{name: PAYLATCH_CONFIG, value: /etc/paylatch/paylatch.yaml}")
	for _, literal := range regexp.MustCompile(`--from-literal=(\w+)=`).FindAllSubmatch(manifests, -1) {
		if !strings.HasPrefix(string(literal[1]), "PAYLATCH_") { // those need no place in the configuration
			names = append(names, string(literal[1]))
		}
	}
	return first.Data["paylatch.yaml"], names
}

// TestDeployedProxies: the Kubernetes manifests trust the Ingress alone for a client's address, and admit no other client at
// that port.
func TestDeployedProxies(t *testing.T) {
	t.Parallel()
	text, names := kubernetes(t)
	var environ []string
	for _, n := range names {
		environ = append(environ, n+"="+exampleValue(n))
	}
	c, err := config.Load(write(t, text), environ)
	require.NoError(t, err)
	require.NotEmpty(t, c.TrustedProxies)
	for _, p := range c.TrustedProxies {
		require.GreaterOrEqual(t, p.Bits(), p.Addr().BitLen()-8, "%s is the network of more than the Ingress", p)
	}
	require.NotEmpty(t, c.OperationsListen, "Prometheus is no proxy")
	type selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"` //nolint:tagliatelle // Kubernetes names it
	}
	var policy struct {
		Spec struct {
			Ingress []struct {
				From []struct {
					NamespaceSelector selector `yaml:"namespaceSelector"` //nolint:tagliatelle // Kubernetes names it
					PodSelector       selector `yaml:"podSelector"`       //nolint:tagliatelle // Kubernetes names it
				}
				Ports []struct{ Port string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(deployed(t, "kubernetes/networkpolicy.yaml"), &policy))
	var public int
	for _, in := range policy.Spec.Ingress {
		require.Len(t, in.Ports, 1, "no ports are all ports")
		if in.Ports[0].Port != "http" {
			continue
		}
		public++
		require.Len(t, in.From, 1, "only the Ingress")
		require.Equal(t, "ingress-nginx", in.From[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
		require.Equal(t, "controller", in.From[0].PodSelector.MatchLabels["app.kubernetes.io/component"])
	}
	require.Equal(t, 1, public)
}

func deployed(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/" + path)
	require.NoError(t, err)
	return text
}
