// Package api holds the contracts: openapi.yaml, which the server serves, checks
// requests against and is generated from, and events.yaml, the forms of events.
package api

import _ "embed"

// Document is openapi.yaml.
//
//go:embed openapi.yaml
var Document []byte

// Events is events.yaml.
//
//go:embed events.yaml
var Events []byte
