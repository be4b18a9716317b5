package e2e_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// front is the TLS proxy before a service: the cookie of its console goes over TLS
// only.
type front struct {
	*httptest.Server
	to atomic.Pointer[string]
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	proxy := &httputil.ReverseProxy{Transport: &http.Transport{DisableKeepAlives: true}, Rewrite: func(r *httputil.ProxyRequest) {
		to, _ := url.Parse(*f.to.Load())
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	}}
	f.Server = httptest.NewTLSServer(proxy)
	t.Cleanup(f.Close)
	return f
}

// trusting takes the certificate of any front.
func trusting() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}
