// Package gen is the contract in Go: the types of bodies, the routes
// and the interface that the handlers implement. All of it but the times is
// generated from api/openapi.yaml.
package gen
