package redact

import "regexp"

// apiKey is an API key, also a cut one: longer than its public first characters.
var apiKey = regexp.MustCompile(`plk_[A-Za-z0-9_-]{7,}`)

// APIKeys returns a text with its API keys hidden.
func APIKeys(text string) string { return apiKey.ReplaceAllLiteralString(text, "plk_***") }
