// Package endpointstore stores the progress of the merchant's endpoints, their pending retries, and the log of
// deliveries.
package endpointstore
