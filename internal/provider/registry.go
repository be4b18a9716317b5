// Package provider creates the client of an account at a payment provider.
//
// An adapter is a package below this package. It calls one provider's API, implements gateway.Provider and describes
// itself in its Adapter. A new adapter requires such a package and one line here.
package provider

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/gopay"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/lemonsqueezy"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/internal/provider/robokassa"
	"github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
)

// ErrNoAdapter is returned for a kind without an adapter.
var ErrNoAdapter = errors.New("no adapter calls this kind of provider")

// Adapters returns the descriptors of the adapters by kind.
func Adapters() map[string]kit.Adapter {
	return map[string]kit.Adapter{
		"adyen":         adyen.Adapter(),
		"braintree":     braintree.Adapter(),
		"checkout":      checkout.Adapter(),
		"cloudpayments": cloudpayments.Adapter(),
		"comgate":       comgate.Adapter(),
		"gocardless":    gocardless.Adapter(),
		"gopay":         gopay.Adapter(),
		"lemonsqueezy":  lemonsqueezy.Adapter(),
		"mollie":        mollie.Adapter(),
		"paddle":        paddle.Adapter(),
		"paypal":        paypal.Adapter(),
		"razorpay":      razorpay.Adapter(),
		"robokassa":     robokassa.Adapter(),
		"sandbox":       sandbox.Adapter(),
		"square":        square.Adapter(),
		"standard":      standard.Adapter(),
		"stripe":        stripe.Adapter(),
		"tbank":         tbank.Adapter(),
		"yookassa":      yookassa.Adapter(),
	}
}

// New returns the client of an account, or ErrNoAdapter.
func New(kind string, s kit.Settings) (gateway.Provider, error) {
	adapter := Adapters()[kind]
	if adapter.New == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoAdapter, kind)
	}
	return adapter.New(s)
}

// Records are a provider's records of an account besides its payments. A field is nil if the kind has no such record.
type Records struct {
	Books     gateway.Books
	Events    gateway.EventLog
	Statement gateway.Statement
	// Lag is the time during which the books may lack a new entry. A span that ended less than this time ago may be
	// incomplete.
	Lag time.Duration
	// Overlap is how long after its time an entry of the books may still change; zero for three days.
	Overlap time.Duration
	// Marks are our marks in the records.
	Marks gateway.Marks
}

// NewRecords returns the records of an account.
func NewRecords(kind string, s kit.Settings) (r Records, err error) {
	adapter := Adapters()[kind]
	r.Statement, r.Lag, r.Overlap, r.Marks = adapter.Statement, adapter.Lag, adapter.Overlap, adapter.Marks
	if adapter.Books != nil {
		if r.Books, err = adapter.Books(s); err != nil {
			return Records{}, fmt.Errorf("books of %s: %w", kind, err)
		}
	}
	if adapter.Events != nil {
		if r.Events, err = adapter.Events(s); err != nil {
			return Records{}, fmt.Errorf("events of %s: %w", kind, err)
		}
	}
	return r, nil
}

// NewHTTPClient returns a client for calls to providers. It follows no redirects: a command must not be sent to an
// address that was not configured. Each call sets its own timeout.
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
