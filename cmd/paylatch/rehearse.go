package main

import (
	"context"

	"github.com/paylatch/paylatch/internal/dev/rehearse"
	"github.com/paylatch/paylatch/internal/provider"
)

type rehearseCmd struct{ rehearse.Ask }

// Run prints each course as it ends. The exit code is 1 if an order was charged other than once.
func (c *rehearseCmd) Run(ctx context.Context, a *app) error {
	o, err := c.Options(provider.NewHTTPClient(), now)
	if err != nil {
		return usageError{err}
	}
	return c.Print(ctx, o, a.stdout)
}
