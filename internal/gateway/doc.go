// Package gateway is the port to the providers: what an adapter is given and what it
// returns. An adapter is a Provider; package provider has one for each.
package gateway
