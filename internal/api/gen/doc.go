// Package gen is the contract in Go: bodies, routes and the handlers' interface. All of it but the times is generated
// from api/openapi.yaml.
package gen
