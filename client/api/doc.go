// Package api is the generated client of paylatch's contract, api/openapi.yaml, as it is: no
// retries, no errors of problems. Package client wraps it.
package api
