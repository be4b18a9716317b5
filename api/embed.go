// Package api holds the contract: openapi.yaml, which the server serves, checks
// requests against and is generated from.
package api

import _ "embed"

// Document is openapi.yaml.
//
//go:embed openapi.yaml
var Document []byte
