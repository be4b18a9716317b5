package sandbox

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBrokenDisk: what can't be written is answered with a 500 and did not
// happen, and Run ends with an error rather than going on without a memory.
func TestBrokenDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	var logged []error
	s, err := New(Options{StateFile: path, Log: func(err error) { logged = append(logged, err) }})
	require.NoError(t, err)
	writable := s.store.journal.file
	s.store.journal.file, err = os.Open(path)
	require.NoError(t, err)
	require.NoError(t, writable.Close())

	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/v1/charges",
			strings.NewReader(`{"reference":"a","amount":1,"currency":"EUR","token":"tok_success"}`))
		r.Header.Set("Idempotency-Key", "key-1")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		require.Equal(t, http.StatusInternalServerError, w.Code)
	}
	require.Len(t, logged, 2)
	require.Empty(t, s.store.state.charges)

	s.store.state.charges["ch_1"] = chargeRecord{Plan: &plan{Do: stepApprove}}
	require.ErrorContains(t, s.Run(t.Context()), "write journal")
	require.Error(t, s.Close())
}
