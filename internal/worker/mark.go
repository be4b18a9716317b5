package worker

import (
	"context"

	"github.com/paylatch/paylatch/internal/watermark"
)

// Mark raises the mark by which a restored database is noticed.
func Mark(g *watermark.Guard, s watermark.Store) Loop {
	return Loop{Name: "mark", Every: watermark.Every, Do: func(ctx context.Context) (bool, error) { return false, g.Tick(ctx, s) }}
}
