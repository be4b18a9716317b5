package worker

import (
	"context"
	"time"
)

// copyEvery is the interval between portions of the copy for the search.
const copyEvery = 5 * time.Second

// SearchIndex copies data into the search index.
type SearchIndex interface {
	// Copy copies a portion, and reports whether there may be more.
	Copy(ctx context.Context) (more bool, err error)
}

// IndexSearch copies the data by which staff searches orders and attempts.
func IndexSearch(x SearchIndex) Loop {
	return Loop{Name: "index search", Every: copyEvery, Do: x.Copy}
}
