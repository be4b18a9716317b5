package main

import (
	"context"

	"github.com/paylatch/paylatch/internal/dev/conformance"
	"github.com/paylatch/paylatch/internal/provider"
)

type conformanceCmd struct {
	conformance.Ask
	accountAsk
}

// Run prints each check or case as it ends. The exit code is 1 if one has failed.
func (c *conformanceCmd) Run(ctx context.Context, a *app) error {
	if c.Account != "" {
		return c.checkAccount(ctx, a)
	}
	o, err := c.Options(ctx, provider.NewHTTPClient(), now)
	if err != nil {
		return usageError{err}
	}
	return c.Print(ctx, o, a.stdout)
}
