// Package gateway is the port to the providers: the arguments and the results of an adapter. An adapter is a Provider;
// package provider has one for each provider.
package gateway
