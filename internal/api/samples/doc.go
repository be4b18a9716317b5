// Package samples writes samples of calls with curl, in Go and in Node. They are generated from the contract: the path, the
// examples of the parameters and the body, and the roles that may call. A sample in the contract itself (x-codeSamples)
// replaces the generated one.
//
// The calls of providers, which are signed, have no samples.
package samples
