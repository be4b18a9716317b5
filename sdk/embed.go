// Package sdk holds the browser client as built from js/src, which the server
// serves at /sdk/paylatch.js.
package sdk

import _ "embed"

// Script is js/dist/paylatch.js, an ES module.
//
//go:embed js/dist/paylatch.js
var Script []byte
