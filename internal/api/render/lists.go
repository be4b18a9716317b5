package render

// Listed is a page of a list, as the contract has all of them.
type Listed[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// Page renders a page of a list, with the cursor of the next page if there is one.
func Page[T, U any](items []T, next string, shown func(T) U) Listed[U] {
	return Listed[U]{Items: All(items, shown), NextCursor: orNull(next)}
}

// All renders items. It returns an empty list, not null, for no items.
func All[T, U any](items []T, shown func(T) U) []U { return mapped(items, shown) }
