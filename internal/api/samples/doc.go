// Package samples writes how a call of the contract is made with curl, in Go and in Node. All is made of the contract:
// the path, the parameters' examples, the example of the body, and who may call. A sample that the contract has itself
// (x-codeSamples) goes before one that is made.
//
// The calls of providers, which are signed, have no samples.
package samples
