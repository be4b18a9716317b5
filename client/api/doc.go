// Package api is the generated client of api/openapi.yaml. It has no retries, and no errors of problems. Package client
// wraps it.
package api
