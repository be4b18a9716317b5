package main

import (
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/payment"
)

type tokenCmd struct {
	Sub  string         `required:"" placeholder:"ID" help:"Whom the token names: a user or a service."`
	Role []payment.Role `required:"" placeholder:"ROLE" enum:"customer,service,support,admin" help:"What the bearer may be (${enum}); may be given again."`
	TTL  time.Duration  `name:"ttl" default:"24h" help:"How long the token is valid."`
}

// Run prints the token alone, so that a shell can use it.
func (c *tokenCmd) Run(a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	if cfg.Auth.HS256Secret == "" {
		// What `paylatch dev` in the same place made for itself.
		cfg.Auth.HS256Secret = devTokenSecret(cfg)
	}
	if cfg.Auth.HS256Secret == "" {
		return config.Mistakes{"auth.hs256_secret: is needed to make tokens; those of a JWKS address come from their issuer"}
	}
	token, err := minter(cfg).Mint(c.Sub, c.Role, c.TTL)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err //nolint:wrapcheck // it says all there is
}

// minter makes tokens that the configured service takes.
func minter(cfg *config.Config) auth.Minter {
	return auth.Minter{Secret: []byte(cfg.Auth.HS256Secret), Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience}
}
