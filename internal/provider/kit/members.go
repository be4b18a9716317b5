package kit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The checks of the values of provider_data; see gateway.Members.

// AnyBool accepts true and false.
func AnyBool(value json.RawMessage) string {
	var b *bool
	if json.Unmarshal(value, &b) != nil || b == nil {
		return "must be true or false"
	}
	return ""
}

// AnyMinor accepts an amount in minor units: a whole number from 0.
func AnyMinor(value json.RawMessage) string {
	var n *int64
	if json.Unmarshal(value, &n) != nil || n == nil || *n < 0 {
		return "must be a whole number from 0"
	}
	return ""
}

// AnyList accepts a list with at least one item.
func AnyList(value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		return "must be a list with at least one item"
	}
	return ""
}

// AnyObject accepts an object.
func AnyObject(value json.RawMessage) string {
	if members, ok := objectOf(value); !ok || members == nil {
		return "must be an object"
	}
	return ""
}

// ObjectOf returns the check of an object with some of the members.
func ObjectOf(members map[string]func(json.RawMessage) string) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		given, ok := objectOf(value)
		if !ok || len(given) == 0 {
			return "must be an object"
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			check, allowed := members[name]
			if !allowed {
				return "must not have " + name
			}
			if message := check(given[name]); message != "" {
				return name + " " + message
			}
		}
		return ""
	}
}

// TextTo returns the check of a text that is not empty and has a limited number of characters.
func TextTo(most int) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		var text string
		if json.Unmarshal(value, &text) != nil || text == "" || utf8.RuneCountInString(text) > most {
			return fmt.Sprintf("must be a text of at most %d characters", most)
		}
		return ""
	}
}

// TextOf returns the check of a text that is one of several values.
func TextOf(values ...string) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		var text string
		if json.Unmarshal(value, &text) != nil || !slices.Contains(values, text) {
			return "must be one of " + strings.Join(values, ", ")
		}
		return ""
	}
}

func objectOf(value json.RawMessage) (members map[string]json.RawMessage, ok bool) {
	ok = json.Unmarshal(value, &members) == nil
	return members, ok
}
