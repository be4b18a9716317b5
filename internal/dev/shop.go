package dev

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/console/demo"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// Shop puts the demo shop beside the service, which is served at an address, and the link that Welcome prints. The shop
// calls the service as a merchant's backend does, with a token of its own, and shows the course of a payment beside it.
func (m Machine) Shop(cfg *config.Config, at net.Addr, service http.Handler, course func(ctx context.Context, attempt string) templ.Component) (http.Handler, error) {
	minter := auth.NewMinter(cfg)
	token, err := minter.Mint("demo-shop", []payment.Role{payment.RoleService}, tokenLife)
	if err != nil {
		return nil, err
	}
	shop := demo.New(demo.Options{
		PublicURL: server.URL(at.String()), ProviderURL: m.SandboxURL, Token: token,
		Course: course,
		// Longer than the longest wait of a page.
		Client: &http.Client{Timeout: 80 * time.Second, Transport: &http.Transport{}},
	})
	pages, signIn := api.WithRequestID(shop), api.WithRequestID(m.link.handler(minter, service))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo" || strings.HasPrefix(r.URL.Path, "/demo/") {
			pages.ServeHTTP(w, r)
			return
		}
		if r.URL.Path == signInPath {
			signIn.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(w, r)
	}), nil
}
