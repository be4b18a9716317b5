package provider

import "slices"

// Callable returns the kinds that can be called, sorted.
func Callable() []string {
	var kinds []string
	for kind, adapter := range Adapters() {
		if adapter.New != nil {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}
