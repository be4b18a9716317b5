package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document is THIRD_PARTY.md: a table of the parts, and each text once.
func document(list []part) string {
	var b strings.Builder
	b.WriteString("# Third parties\n\nWhat the program is made of besides its own code (Apache-2.0, [LICENSE](LICENSE)), with the licences and notices of each part. " +
		"Written by\n`make licences`.\n\n| part | version | licence | texts |\n|---|---|---|---|\n")
	var texts []string
	for _, p := range list {
		var at []string
		for _, name := range slices.Sorted(maps.Keys(p.texts)) {
			text := strings.TrimSpace(strings.ReplaceAll(p.texts[name], "\r\n", "\n"))
			i := slices.Index(texts, text)
			if i < 0 {
				i = len(texts)
				texts = append(texts, text)
			}
			at = append(at, fmt.Sprintf("[%d](#text-%d)", i+1, i+1))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.name, p.version, strings.Join(p.licences, ", "), strings.Join(at, " "))
	}
	for i, text := range texts {
		fmt.Fprintf(&b, "\n## Text %d\n\n", i+1)
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("    "+strings.TrimRight(line, "\n"), " \t\f") + "\n")
		}
	}
	return b.String()
}
