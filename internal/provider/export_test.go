package provider

import (
	"maps"
	"slices"
)

// Kinds lists the kinds that can be called, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(adapters)) }
