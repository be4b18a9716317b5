package dev

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"text/template"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// tokenLife is long: the tokens work on this machine only.
const tokenLife = 30 * 24 * time.Hour

// Welcome prints the link that signs in to the console, the addresses, a first payment to paste, and tokens.
func (m Machine) Welcome(w io.Writer, cfg *config.Config, addr net.Addr, now time.Time) error {
	base := server.URL(addr.String())
	page := struct {
		Base, Sandbox, Order, DataDir     string
		Customer, Backend, Support, Admin string
		SignIn                            string
	}{
		Base: base, Sandbox: m.SandboxURL, DataDir: cfg.DataDir,
		SignIn: m.link.address(base),
		Order:  "demo-" + now.UTC().Format("20060102-150405"),
	}
	minter := auth.NewMinter(cfg)
	for _, t := range []struct {
		token *string
		sub   string
		role  payment.Role
	}{
		{&page.Customer, "u-1", payment.RoleCustomer},
		{&page.Backend, "shop-backend", payment.RoleService},
		{&page.Support, "sam", payment.RoleSupport},
		{&page.Admin, adminName, payment.RoleAdmin},
	} {
		var err error
		if *t.token, err = minter.Mint(t.sub, []payment.Role{t.role}, tokenLife); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	err := welcomeText.Execute(&text, page)
	if err == nil {
		_, err = w.Write(text.Bytes()) // at once: whoever reads along has all of it
	}
	if err != nil {
		return fmt.Errorf("print the welcome: %w", err)
	}
	return nil
}

//nolint:gochecknoglobals // a text
var welcomeText = template.Must(template.New("welcome").Parse(`
paylatch is ready. Ctrl-C stops it; what it has stored stays in {{.DataDir}}.

  Sign in to the console, once, by this link:

    {{.SignIn}}

  the demo      {{.Base}}/demo   a checkout to press twice, reload and cut off
  the console   {{.Base}}/support   for support
  the API       {{.Base}}        described at {{.Base}}/docs
  the provider  {{.Sandbox}}        what it charged: {{.Sandbox}}/v1/ledger

Take a payment: paste these three commands into another terminal. The backend sets the price, the customer pays.

curl -sS {{.Base}}/v1/orders -H 'Authorization: Bearer {{.Backend}}' -H 'On-Behalf-Of: u-1' -H 'Idempotency-Key: order-{{.Order}}' -H 'Content-Type: application/json' -d '{"order_id":"{{.Order}}","amount":1999,"currency":"EUR"}'

curl -sS {{.Base}}/v1/orders/{{.Order}}/pay -H 'Authorization: Bearer {{.Customer}}' -H 'Idempotency-Key: pay-{{.Order}}' -H 'Content-Type: application/json' -d '{"payment_method":{"token":"tok_async_success"}}'

until curl -sS '{{.Base}}/v1/orders/{{.Order}}/attempts?client_request_id=pay-{{.Order}}' -H 'Authorization: Bearer {{.Customer}}' | tee /dev/stderr | grep -q '"status":"succeeded"'; do sleep 1; done

Tokens for scripts; bin/paylatch token --sub NAME --role ROLE prints others:

  a customer's token (user u-1):
    {{.Customer}}
  a backend's token (add the header On-Behalf-Of: u-1):
    {{.Backend}}
  a support person's token:
    {{.Support}}
  an administrator's token:
    {{.Admin}}

`))
