// Package authz decides what an authenticated caller may do: the roles of its token, and the user for which it acts.
package authz
