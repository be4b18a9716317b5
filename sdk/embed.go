// Package sdk has the built browser client. It is built from js/src; the server serves it at /sdk/paylatch.js. The TypeScript client
// of servers is beside it.
package sdk

import _ "embed"

//go:generate go run ./internal/gentypes -o js/src/server/api.ts

// Script is js/dist/paylatch.js, an ES module.
//
//go:embed js/dist/paylatch.js
var Script []byte
