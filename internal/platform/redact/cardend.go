package redact

import (
	"encoding/json"
	"strings"
)

// CardEnd returns the last four digits of the card in a provider's bytes, as Body shows them. It returns an empty text if there
// is no card, or if several cards differ, since they are not one payment's.
func CardEnd(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	tree, ok := parse(body)
	if !ok {
		return ""
	}
	s := seeker{left: maxNodes}
	s.look("", tree, 0)
	if s.several {
		return ""
	}
	return s.found
}

// seeker looks for the end of a card's number.
type seeker struct {
	left    int
	found   string
	several bool
}

func (s *seeker) look(name string, v any, depth int) {
	if s.left--; s.left < 0 || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for member, value := range v {
			s.look(member, value, depth+1)
		}
	case []any:
		for _, item := range v {
			s.look(name, item, depth+1)
		}
	case json.Number:
		s.see(name, v.String())
	case string:
		s.see(name, v)
	}
}

func (s *seeker) see(name, text string) {
	switch {
	case lastDigits[plain(name)] && four.MatchString(text):
	case isCardNumber(name) && cardEnd.MatchString(text):
		text = strings.TrimPrefix(lastFour(text), "…")
	default:
		return
	}
	s.several = s.several || s.found != "" && s.found != text
	s.found = text
}
