// Package authz decides what an authenticated caller may do: the roles of its token, and
// the user it acts for.
package authz
