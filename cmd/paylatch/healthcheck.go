package main

import (
	"cmp"
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/platform/server"
)

type healthcheckCmd struct {
	Timeout time.Duration `default:"3s" help:"How long to wait for the response (${default})."`
}

// Run requests /healthz at its configured address.
func (c *healthcheckCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return server.Alive(ctx, cmp.Or(cfg.OperationsListen, cfg.Listen), cfg.TLS.Set() && cfg.OperationsListen == "")
}
