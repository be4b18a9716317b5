package api

import (
	"encoding/json"
	"fmt"
)

// valueOf is the value of an optional member, or its type's zero.
func valueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// recast fills in a value from one with the same members, if there is one.
func recast[T any](from *T, to any) {
	if from == nil {
		return
	}
	if text, err := json.Marshal(from); err != nil || json.Unmarshal(text, to) != nil {
		panic(fmt.Sprintf("a %T is no %T", from, to)) // the contract's members are checked before, and tested to fit
	}
}
