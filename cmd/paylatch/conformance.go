package main

import (
	"context"

	"github.com/paylatch/paylatch/internal/dev/conformance"
	"github.com/paylatch/paylatch/internal/provider"
)

type conformanceCmd struct{ conformance.Ask }

// Run prints each check as it ends. The exit code is 1 if one has failed.
func (c *conformanceCmd) Run(ctx context.Context, a *app) error {
	o, err := c.Options(ctx, provider.NewHTTPClient(), now)
	if err != nil {
		return usageError{err}
	}
	return c.Print(ctx, o, a.stdout)
}
