// Package inbound is a webhook between its verification and its effect: the event as it
// was received and as the inbox keeps it, and the report that it contains.
package inbound
