package webhooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// unsigning are the kinds whose provider signs nothing.
var unsigning = []string{"gopay", "yookassa"}

// TestOwnVectors checks what scripts/vectors.mjs made with the program openssl and held against the providers' official libraries: a
// genuine delivery of each scheme, and forged ones.
func TestOwnVectors(t *testing.T) {
	t.Parallel()
	genuine := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		var file struct{ Vectors []vector }
		readJSON(t, path, &file)
		for _, kind := range kindsOf(strings.TrimSuffix(filepath.Base(path), ".json")) {
			for _, v := range file.Vectors {
				genuine[kind] = genuine[kind] || v.ExpectedValid
				t.Run(kind+"/"+v.ID, func(t *testing.T) {
					t.Parallel()
					checkVector(t, kind, v)
				})
			}
		}
	}
	for _, kind := range unsigning {
		require.False(t, genuine[kind], kind)
		genuine[kind] = true
	}
	for _, kind := range webhooks.Kinds() {
		require.True(t, genuine[kind], "no genuine delivery of %s: run scripts/vectors.mjs", kind)
	}
}

// issuers are the roots of a vector's certificate.
func (v vector) issuers(t *testing.T) []byte {
	t.Helper()
	if v.RootsPEM != "" {
		return []byte(v.RootsPEM)
	}
	issuer, err := os.ReadFile(filepath.Join(vectorsDir(t), "certs", "DigiCertSHA2ExtendedValidationServerCA.pem"))
	require.NoError(t, err)
	return issuer
}
