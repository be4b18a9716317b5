package dev

import (
	"fmt"
	"io"
	"net"
	"text/template"
	"time"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/server"
)

// tokenLife is long: the tokens work on this machine only.
const tokenLife = 30 * 24 * time.Hour

// Welcome prints the addresses, tokens, and a first payment to paste. The address of the NATS server may be empty; the subjects of
// its stream begin with prefix.
func (m Machine) Welcome(w io.Writer, cfg *config.Config, addr net.Addr, nats, prefix string, now time.Time) error {
	base := server.URL(addr.String())
	page := struct {
		Base, Sandbox, Order, DataDir     string
		NATS, Stream, Subjects            string
		Customer, Backend, Support, Admin string
	}{
		Base: base, Sandbox: m.SandboxURL, DataDir: cfg.DataDir,
		NATS: nats, Stream: jetStream, Subjects: prefix + ".>",
		Order: "demo-" + now.UTC().Format("20060102-150405"),
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
		{&page.Admin, "ada", payment.RoleAdmin},
	} {
		var err error
		if *t.token, err = minter.Mint(t.sub, []payment.Role{t.role}, tokenLife); err != nil {
			return err
		}
	}
	if err := welcomeText.Execute(w, page); err != nil {
		return fmt.Errorf("print the welcome: %w", err)
	}
	return nil
}

//nolint:gochecknoglobals // a text
var welcomeText = template.Must(template.New("welcome").Parse(`
paylatch is ready. Ctrl-C stops it; what it knows stays in {{.DataDir}}.

  the API       {{.Base}}        described at {{.Base}}/docs
  the demo      {{.Base}}/demo   a checkout to press twice, reload and cut off
  the console   {{.Base}}/support   for support; sign in with a token from below
  the provider  {{.Sandbox}}        what it charged: {{.Sandbox}}/v1/ledger
{{- if .NATS}}
  NATS          {{.NATS}}        events are in its JetStream stream {{.Stream}}, subjects {{.Subjects}}
{{- end}}

  a customer's token (user u-1):
    {{.Customer}}
  a backend's token (add the header On-Behalf-Of: u-1):
    {{.Backend}}
  a support person's token:
    {{.Support}}
  an administrator's token:
    {{.Admin}}

Take a payment: paste these three commands into another terminal. The backend sets the price, the customer pays.

curl -sS {{.Base}}/v1/orders -H 'Authorization: Bearer {{.Backend}}' -H 'On-Behalf-Of: u-1' -H 'Idempotency-Key: order-{{.Order}}' -H 'Content-Type: application/json' -d '{"order_id":"{{.Order}}","amount":1999,"currency":"EUR"}'

curl -sS {{.Base}}/v1/orders/{{.Order}}/pay -H 'Authorization: Bearer {{.Customer}}' -H 'Idempotency-Key: pay-{{.Order}}' -H 'Content-Type: application/json' -d '{"payment_method":{"token":"tok_async_success"}}'

until curl -sS '{{.Base}}/v1/orders/{{.Order}}/attempts?client_request_id=pay-{{.Order}}' -H 'Authorization: Bearer {{.Customer}}' | tee /dev/stderr | grep -q '"status":"succeeded"'; do sleep 1; done

`))
