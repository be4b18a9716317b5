package finder

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	// leastWord and mostWord bound a word, in bytes; other words are ignored.
	leastWord = 2
	mostWord  = 64
	// indexedWords is how many words of an order are kept.
	indexedWords = 100
)

// Words returns the words of a text in lower case, each once, in their order. A word is a run of letters, digits and marks.
func Words(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if len(w) >= leastWord && len(w) <= mostWord && !contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// Names returns the exact names that are indexed beside the words of an order, in lower case: the order's id and its user's.
func Names(order, user string) []string {
	names := []string{}
	if name := strings.ToLower(order); !strings.ContainsAny(name, " ") {
		names = append(names, "="+name)
	}
	if name := strings.ToLower(user); !strings.ContainsAny(name, " ") {
		names = append(names, "@"+name)
	}
	return names
}

// OrderWords returns the search terms of an order: its names, and the words of its id, its description and the values of its
// metadata, sorted by the metadata's names. If there are too many, the first ones are kept.
func OrderWords(o Order) []string {
	words := Names(o.ID, o.User)
	texts := []string{o.ID, o.Description}
	for _, name := range slices.Sorted(maps.Keys(o.Metadata)) {
		texts = append(texts, o.Metadata[name])
	}
	for _, w := range Words(strings.Join(texts, "\n")) {
		if len(words) == indexedWords {
			break
		}
		words = append(words, w)
	}
	return words
}
