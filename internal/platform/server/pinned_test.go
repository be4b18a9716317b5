package server_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/server"
)

// TestPinned reaches the server whose certificate is in the file, by an address that the certificate need not name, and no other server.
func TestPinned(t *testing.T) {
	t.Parallel()
	require.Equal(t, "https://127.0.0.1:8443", server.At(":8443", true))
	require.Equal(t, "http://127.0.0.1:8080", server.At("0.0.0.0:8080", false))
	client, err := server.Pinned("")
	require.NoError(t, err)
	require.Nil(t, client)

	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	file := func(block *pem.Block) string {
		path := filepath.Join(t.TempDir(), "cert.pem")
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
		return path
	}
	get := func(path string) error {
		client, err := server.Pinned(path)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		resp, err := client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	raw := s.Certificate().Raw
	require.NoError(t, get(file(&pem.Block{Type: "CERTIFICATE", Bytes: raw})))
	require.ErrorContains(t, get(file(&pem.Block{Type: "CERTIFICATE", Bytes: raw[1:]})), "differs from the certificate in tls.cert_file")
	_, err = server.Pinned(file(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	require.ErrorContains(t, err, "has no certificate")
	_, err = server.Pinned(filepath.Join(t.TempDir(), "missing.pem"))
	require.Error(t, err)
}
