package main

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/console/demo"
	"github.com/paylatch/paylatch/internal/payment"
)

// openShop puts the demo shop beside the service. It calls the service as a
// merchant's backend does, with a token of its own.
func openShop(in *instance, cfg *config.Config, at net.Addr, sandboxURL string) error {
	token, err := minter(cfg).Mint("demo-shop", []payment.Role{payment.RoleService}, devTokenLife)
	if err != nil {
		return err
	}
	shop := demo.New(demo.Options{
		PublicURL: baseURL(at.String()), ProviderURL: sandboxURL, Token: token,
		// Longer than the longest wait of a page.
		Client: &http.Client{Timeout: 80 * time.Second, Transport: &http.Transport{}},
	})
	pages, service := access.Identified(shop), in.handler
	in.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo" || strings.HasPrefix(r.URL.Path, "/demo/") {
			pages.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(w, r)
	})
	return nil
}
