package published_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
)

// skipping is a test that keeps why it was skipped.
type skipping struct {
	testing.TB

	why string
}

func (s *skipping) Skip(args ...any) {
	s.why = fmt.Sprint(args...)
	runtime.Goexit()
}

func TestPath(t *testing.T) {
	dir, notes := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	t.Setenv("PAYLATCH_SPECS", dir)
	t.Setenv("PAYLATCH_MISSED", notes)
	there := filepath.Join(dir, "there.json")
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	require.Equal(t, there, published.Path(t, published.Specs, "there.json"))
	require.NoFileExists(t, notes)

	without := &skipping{TB: t}
	done := make(chan struct{})
	go func(tb testing.TB) {
		tb.Helper()
		defer close(done)
		published.Path(tb, published.Specs, "none.json")
	}(without)
	<-done
	require.Contains(t, without.why, "PAYLATCH_SPECS does not say where")
	_, err := published.Find(t, published.Specs, "none.json")
	require.ErrorContains(t, err, "none.json")
	text, err := os.ReadFile(notes)
	require.NoError(t, err)
	require.Equal(t, "./internal/dev/published TestPath\n./internal/dev/published TestPath\n", string(text))
}
