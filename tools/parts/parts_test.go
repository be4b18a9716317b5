package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write THIRD_PARTY.md")

const root = "../.."

// TestThirdParty fails for a part of the program without a licence that is recognised, and for a list that is not current.
func TestThirdParty(t *testing.T) {
	t.Parallel()
	list, err := parts(t.Context(), root)
	require.NoError(t, err)
	name, want := filepath.Join(root, "THIRD_PARTY.md"), document(list)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o600))
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, strings.Split(want, "\n## Text 1\n")[0], strings.Split(string(got), "\n## Text 1\n")[0], "THIRD_PARTY.md is not current: run 'make licences'")
	require.Len(t, got, len(want), "a text is not current: run 'make licences'")
}

func TestEmbeddedFilesAreListed(t *testing.T) {
	t.Parallel()
	wrong, err := unlisted(root)
	require.NoError(t, err)
	require.Empty(t, wrong)

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "other.min.js"), []byte("x"), 0o600))
	wrong, err = unlisted(other)
	require.NoError(t, err)
	require.Len(t, wrong, 1+len(embedded()))
}

func TestRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The  MIT License\nPermission is hereby granted, free of charge, to any\nperson obtaining a copy":                                       "MIT",
		"Redistribution and use in source and binary forms, with or":                                                                            "BSD-2-Clause",
		"Redistribution and use in source and binary forms\nmay be used to endorse\n or promote":                                                "BSD-3-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.":               "0BSD",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that": "ISC",
		"Apache License\n Version 2.0, January 2004 and Permission is hereby granted, free of charge, to any person obtaining a copy":           "Apache-2.0 MIT",
		"GNU AFFERO GENERAL PUBLIC LICENSE": "",
		"":                                  "",
	} {
		require.Equal(t, want, strings.Join(recognised(text), " "), text)
	}
}

func TestAPartWithoutALicence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := read("m", "v1", dir)
	require.ErrorIs(t, err, errNoLicence)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("All rights reserved"), 0o600))
	_, err = read("m", "v1", dir)
	require.ErrorIs(t, err, errNoLicence)
}

func TestCompleted(t *testing.T) {
	t.Parallel()
	list := []part{{name: "example.org/m", licences: []string{"MIT"}}}
	bill, err := completed([]byte(`{"bomFormat":"CycloneDX","metadata":{"component":{"bom-ref":"root"}},"components":[{"name":"example.org/m"}],"dependencies":[{"ref":"root"}]}`), list)
	require.NoError(t, err)
	require.Len(t, bill["components"], 3)
	require.Equal(t, licences([]string{"MIT"}), bill["components"].([]any)[0].(object)["licenses"])
	require.Equal(t, []any{"pkg:npm/htmx.org@2.0.11", "pkg:npm/%40picocss/pico@2.1.1"}, bill["dependencies"].([]any)[0].(object)["dependsOn"])

	_, err = completed([]byte(`{"bomFormat":"CycloneDX","metadata":{"component":{}},"components":[{"name":"example.org/unknown"}],"dependencies":[]}`), list)
	require.ErrorIs(t, err, errNoLicence)
	_, err = completed([]byte(`{}`), list)
	require.ErrorIs(t, err, errBill)
}
