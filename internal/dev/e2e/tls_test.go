package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTLS serves over TLS: the service is ready, plain HTTP is refused, and the healthcheck finds it.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key := filepath.Join(dir, "tls.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))

	r := newRig(t)
	s := r.serve("PAYLATCH_TLS_CERT_FILE="+cert, "PAYLATCH_TLS_KEY_FILE="+key)
	over := &http.Client{Transport: trusting()}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(s.base, "http:", "https:", 1)+"/readyz", nil)
	require.NoError(t, err)
	eventually(t, "ready", func() bool {
		resp, err := over.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, uint16(0x0304), resp.TLS.Version)
		return resp.StatusCode == http.StatusOK
	})
	require.Equal(t, http.StatusBadRequest, client{base: s.base, blunt: true}.send(t.Context(), http.MethodGet, "/readyz", "").status)

	check := start(t, dir, []string{"PAYLATCH_LISTEN=" + strings.TrimPrefix(s.base, "http://"), "PAYLATCH_TLS_CERT_FILE=" + cert, "PAYLATCH_TLS_KEY_FILE=" + key}, "healthcheck", "--timeout", soon.String())
	within(t, "the end of the healthcheck", check.done)
	require.Zero(t, check.cmd.ProcessState.ExitCode(), check.stderr)
}
