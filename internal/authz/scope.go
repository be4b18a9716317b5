package authz

import (
	"slices"
	"strings"
)

// Scope is a part of the API: a chapter of the contract, a colon, and read or write.
type Scope string

const writing = "write"

// ScopeOf is the scope of a call, by its chapter and whether it only reads.
func ScopeOf(chapter string, reads bool) Scope {
	if reads {
		return Scope(chapter + ":read")
	}
	return Scope(chapter + ":" + writing)
}

// covers reports whether the scope includes another. A scope that writes includes the reads of its chapter.
func (s Scope) covers(other Scope) bool {
	chapter, verb, _ := strings.Cut(string(s), ":")
	of, _, _ := strings.Cut(string(other), ":")
	return s == other || verb == writing && chapter == of
}

// MayCall reports whether the scopes of the actor's API key include a call. All other actors have no scopes, and all calls.
func (a Actor) MayCall(scope Scope) bool {
	return a.Key == nil || len(a.Key.Scopes) == 0 || slices.ContainsFunc(a.Key.Scopes, func(s Scope) bool { return s.covers(scope) })
}
