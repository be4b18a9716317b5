package main

import (
	"slices"
	"strings"
)

// sign is the words that identify the text of a licence.
type sign struct {
	id  string
	all []string
}

// signs lists the licences that a part may have, in the order of the search. All let the program be passed on with their texts.
func signs() []sign {
	const redistribution = "redistribution and use in source and binary forms"
	return []sign{
		{"Apache-2.0", []string{"apache license version 2.0, january 2004"}},
		{"Apache-2.0", []string{"licensed under the apache license, version 2.0"}},
		{"MPL-2.0", []string{"mozilla public license version 2.0"}},
		{"BSD-3-Clause", []string{redistribution, "may be used to endorse or promote"}},
		{"BSD-2-Clause", []string{redistribution}},
		{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that"}},
		{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that"}},
		{"0BSD", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted."}},
		{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy"}},
	}
}

// recognised lists the SPDX identifiers of the licences in a text.
func recognised(text string) (ids []string) {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, s := range signs() {
		if !slices.ContainsFunc(s.all, func(has string) bool { return !strings.Contains(words, has) }) {
			if !slices.Contains(ids, s.id) && (s.id != "BSD-2-Clause" || !slices.Contains(ids, "BSD-3-Clause")) {
				ids = append(ids, s.id)
			}
		}
	}
	return ids
}
