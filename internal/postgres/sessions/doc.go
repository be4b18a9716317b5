// Package sessions keeps the sessions of the support console. It has nothing to do with sessions of the database.
package sessions
