// Package authz decides which actions an authenticated caller may do. It decides by the roles of the token and by the
// user for which the caller acts.
package authz
