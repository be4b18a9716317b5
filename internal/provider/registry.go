// Package provider makes the client of an account at a payment provider.
//
// An adapter is a package of its own below this one: it speaks one provider's
// API and implements payment.Provider. Adding one is such a package and one line
// here.
package provider

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
)

// ErrNoAdapter is returned for a kind whose API can't be called.
var ErrNoAdapter = errors.New("no adapter calls this kind of provider")

// Settings are an account's credentials and addresses.
type Settings struct {
	// BaseURL replaces the provider's own address.
	BaseURL string
	// APIKey and Params are the credentials, Params by their names in the
	// configuration.
	APIKey string
	Params map[string]string
	// Client sends the requests; see NewHTTPClient.
	Client *http.Client
	// Now is the clock by which access tokens end.
	Now func() time.Time
}

var adapters = map[string]func(Settings) (payment.Provider, error){ //nolint:gochecknoglobals // the registry: one line a kind
	"adyen": func(s Settings) (payment.Provider, error) {
		return adyen.New(adyen.Account{
			Base: s.BaseURL, Key: s.APIKey, Merchant: s.Params["merchant_account"], Capture: s.Params["capture"],
		}, s.Client), nil
	},
	"checkout": func(s Settings) (payment.Provider, error) { return checkout.New(s.BaseURL, s.APIKey, s.Client), nil },
	"sandbox":  func(s Settings) (payment.Provider, error) { return sandbox.New(s.BaseURL, s.Client), nil },
	"square":   func(s Settings) (payment.Provider, error) { return square.New(s.BaseURL, s.APIKey, s.Client), nil },
	"stripe":   func(s Settings) (payment.Provider, error) { return stripe.New(s.BaseURL, s.APIKey, s.Client), nil },
	"cloudpayments": func(s Settings) (payment.Provider, error) {
		return cloudpayments.New(s.BaseURL, s.Params["public_id"], s.Params["webhook_secret"], s.Client), nil
	},
	"tbank": func(s Settings) (payment.Provider, error) {
		return tbank.New(s.BaseURL, s.Params["terminal_key"], s.Params["webhook_secret"], s.Params["currency"], s.Client)
	},
	"yookassa": func(s Settings) (payment.Provider, error) {
		return yookassa.New(s.BaseURL, s.Params["shop_id"], s.APIKey, s.Client), nil
	},
	"mollie": func(s Settings) (payment.Provider, error) {
		return mollie.New(s.BaseURL, s.APIKey, s.Params["public_url"], s.Client), nil
	},
	"paypal": func(s Settings) (payment.Provider, error) {
		return paypal.New(s.BaseURL, s.Params["client_id"], s.Params["client_secret"], s.Client, s.Now), nil
	},
	"razorpay": func(s Settings) (payment.Provider, error) {
		return razorpay.New(s.BaseURL, s.Params["key_id"], s.Params["key_secret"], s.Client), nil
	},
}

// New returns the client of an account, or ErrNoAdapter.
func New(kind string, s Settings) (payment.Provider, error) {
	adapt, ok := adapters[kind]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoAdapter, kind)
	}
	return adapt(s)
}

// NewHTTPClient returns a client for calls to providers. It follows no
// redirects: a command must not be sent to an address that nobody configured.
// Every call brings its own time limit.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     60 * time.Second,
			ForceAttemptHTTP2:   true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
