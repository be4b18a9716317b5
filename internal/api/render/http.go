package render

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// JSON encodes one of the contract's types: members in the order of the struct and maps sorted, so that equal values
// are equal bytes. It ends with its only newline.
func JSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Seconds is a wait as Retry-After has it, rounded up.
func Seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// ETag is a version's entity tag.
func ETag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// Matches compares as RFC 9110 defines it for If-None-Match: weakly, any of a list.
func Matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}

// mapped is never nil, so that an empty list is rendered as one.
func mapped[T, U any](items []T, render func(T) U) []U {
	out := make([]U, len(items))
	for i, item := range items {
		out[i] = render(item)
	}
	return out
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
