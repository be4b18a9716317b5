// Package sdk has the built browser client. It is built from js/src; the server serves it at /sdk/paylatch.js.
package sdk

import _ "embed"

// Script is js/dist/paylatch.js, an ES module.
//
//go:embed js/dist/paylatch.js
var Script []byte
