package render

// Listed is a page of a list, as the contract has all of them.
type Listed[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// Page renders a page of a list, whose next one has a cursor, if there is one.
func Page[T, U any](items []T, next string, shown func(T) U) Listed[U] {
	return Listed[U]{Items: All(items, shown), NextCursor: orNull(next)}
}

// All renders items; of none it is an empty list.
func All[T, U any](items []T, shown func(T) U) []U { return mapped(items, shown) }
