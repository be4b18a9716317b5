// Package requests is the console's pages of refund requests: the form on a payment's page by which support requests a refund, the list,
// and the forms by which an admin approves or declines. Permissions and the audit log are matters of the use cases.
package requests
