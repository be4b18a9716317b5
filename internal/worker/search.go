package worker

import (
	"context"
	"time"
)

// copyEvery is the interval between portions of the copy for the search.
const copyEvery = 5 * time.Second

// SearchIndex is what the loop of the search's copy needs.
type SearchIndex interface {
	// Copy copies a portion, and reports whether there may be more.
	Copy(ctx context.Context) (more bool, err error)
}

// IndexSearch copies what staff searches orders and attempts by.
func IndexSearch(x SearchIndex) Loop {
	return Loop{Name: "index search", Every: copyEvery, Do: x.Copy}
}
