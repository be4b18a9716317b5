package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
)

// TestMergeProfiles: the merged profile has the samples of both, and no path of a machine.
func TestMergeProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b"} {
		p := &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
			Mapping:    []*profile.Mapping{{ID: 1, Start: 1, Limit: 2, File: filepath.Join(dir, "paylatch")}},
		}
		f := &profile.Function{ID: 1, Name: name}
		at := &profile.Location{ID: 1, Mapping: p.Mapping[0], Address: 1, Line: []profile.Line{{Function: f, Line: 1}}}
		p.Function, p.Location = []*profile.Function{f}, []*profile.Location{at}
		p.Sample = []*profile.Sample{{Location: []*profile.Location{at}, Value: []int64{5}}}
		file, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, p.Write(file))
		require.NoError(t, file.Close())
		files = append(files, file.Name())
	}
	into := filepath.Join(dir, "sum")
	require.NoError(t, mergeProfiles(files, into))
	sum := parsed(t, into)
	var names []string
	for _, f := range sum.Function {
		names = append(names, f.Name)
	}
	require.ElementsMatch(t, []string{"a", "b"}, names)
	namesNoPlace(t, sum)
}

// TestProfileOfTheProgram: the profile that the compiler uses has samples of the program's own code, and no path of a machine.
func TestProfileOfTheProgram(t *testing.T) {
	t.Parallel()
	p := parsed(t, filepath.Join("..", "cmd", "paylatch", "default.pgo"))
	namesNoPlace(t, p)
	require.True(t, slices.ContainsFunc(p.Function, func(f *profile.Function) bool {
		return strings.HasPrefix(f.Name, "github.com/paylatch/paylatch/internal/")
	}), "it was recorded from another program")
}

func parsed(t *testing.T, name string) *profile.Profile {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	p, err := profile.ParseData(raw)
	require.NoError(t, err)
	return p
}

func namesNoPlace(t *testing.T, p *profile.Profile) {
	t.Helper()
	for _, m := range p.Mapping {
		require.NotContains(t, m.File, string(filepath.Separator))
	}
	for _, f := range p.Function {
		require.False(t, filepath.IsAbs(f.Filename), f.Filename)
	}
}
