package main

import (
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type tokenCmd struct {
	Sub  string         `required:"" placeholder:"ID" help:"The id of the user or service that the token is for."`
	Role []payment.Role `required:"" placeholder:"ROLE" enum:"customer,service,support,admin" help:"A role of the token (${enum}). Repeat the flag for several roles."`
	TTL  time.Duration  `name:"ttl" default:"24h" help:"How long the token is valid."`
}

// Run prints the token alone, so that a shell can use it.
func (c *tokenCmd) Run(a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	token, err := mint(cfg, c.Sub, c.Role, c.TTL)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err //nolint:wrapcheck // the error is complete
}

// mint makes a token with the configuration's key. Without a configured key it uses the key that `paylatch dev` created in the
// same place.
func mint(cfg *config.Config, sub string, roles []payment.Role, ttl time.Duration) (string, error) {
	if cfg.Auth.HS256Secret == "" && (cfg.Environment == "" || cfg.Environment == config.Dev) {
		cfg.Auth.HS256Secret = dev.TokenSecret(cfg)
	}
	if len(cfg.Auth.Ring()) == 0 {
		return "", config.ValidationErrors{"auth.hs256: is needed to make tokens; the tokens of a JWKS address come from its issuer"}
	}
	minter := auth.NewMinter(cfg)
	minter.Now = now
	token, err := minter.Mint(sub, roles, ttl)
	if err != nil {
		return "", usageError{err}
	}
	return token, nil
}
