// Package api holds the contracts: openapi.yaml and events.yaml. The server serves openapi.yaml, checks requests
// against it and is generated from it. events.yaml has the forms of events.
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
