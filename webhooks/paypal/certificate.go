package paypal

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
)

const (
	// signerName and sandboxSignerName are the subject names of PayPal's certificates.
	signerName        = "messageverificationcerts.paypal.com"
	sandboxSignerName = "messageverificationcerts.sandbox.paypal.com"
	// maxKept bounds the cached certificates; PayPal uses one or two at a time.
	maxKept = 16
	// maxChain bounds the number of certificates that a server can make us parse.
	maxChain = 8
)

// signerCert is a chain; its first certificate signs messages.
type signerCert struct {
	leaf          *x509.Certificate
	intermediates *x509.CertPool
	key           *rsa.PublicKey
	sandbox       bool
}

// certStore fetches certificates and keeps those that have proved themselves, by their address: each address names one
// certificate for good.
type certStore struct {
	fetch func(ctx context.Context, url string) ([]byte, error)
	roots *x509.CertPool

	mu   sync.Mutex
	kept map[string]signerCert
}

func newCertStore(c webhooks.Config) *certStore {
	return &certStore{fetch: c.Certificate, roots: c.Roots, kept: map[string]signerCert{}}
}

// of returns the certificate of a transmission, trusted at its time.
func (p *certStore) of(ctx context.Context, t transmission) (signerCert, error) {
	if !isCertURL(t.certURL) {
		return signerCert{}, fmt.Errorf("%w: the certificate's address is not PayPal's", webhooks.ErrSignatureInvalid)
	}
	certificate, kept := p.find(t.certURL)
	if !kept {
		var err error
		if certificate, err = p.get(ctx, t.certURL); err != nil {
			return signerCert{}, err
		}
	}
	return certificate, certificate.trusted(p.roots, t.sentAt)
}

func (p *certStore) find(address string) (signerCert, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	certificate, kept := p.kept[address]
	return certificate, kept
}

// keep remembers a certificate. Only one that made a genuine signature is kept, so that strangers can't fill the memory
// or drive the good ones out.
func (p *certStore) keep(address string, certificate signerCert) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxKept {
		clear(p.kept)
	}
	p.kept[address] = certificate
}

// get fetches a certificate. An ErrUnavailable of the caller's function stays ErrUnavailable. Any other failure
// means that no such certificate exists.
func (p *certStore) get(ctx context.Context, address string) (signerCert, error) {
	if p.fetch == nil {
		return signerCert{}, fmt.Errorf("%w: no way to fetch certificates", webhooks.ErrConfig)
	}
	chain, err := p.fetch(ctx, address)
	switch {
	case errors.Is(err, webhooks.ErrUnavailable), ctx.Err() != nil:
		return signerCert{}, fmt.Errorf("%w: certificate: %w", webhooks.ErrUnavailable, errors.Join(err, ctx.Err()))
	case err != nil:
		return signerCert{}, fmt.Errorf("%w: certificate: %w", webhooks.ErrSignatureInvalid, err)
	}
	return parseCert(chain)
}

// isCertURL reports whether a certificate may be fetched from an address: any other would let the sender bring a key of
// its own, or make us call any host. At PayPal only the path of certificates, /v1/notifications/certs/, is called, and
// sibling paths, which PayPal's libraries have in examples.
func isCertURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || strings.ContainsAny(address, "?#") {
		return false
	}
	host := strings.ToLower(u.Host) // with a port, if there is one, which no suffix allows
	name, under := strings.CutPrefix(u.EscapedPath(), "/v1/notifications/")
	return (host == "paypal.com" || strings.HasSuffix(host, ".paypal.com")) &&
		under && plain.ID(strings.TrimPrefix(name, "certs/"))
}

// parseCert reads a PEM chain, the signer's certificate first.
func parseCert(chain []byte) (signerCert, error) {
	c := signerCert{intermediates: x509.NewCertPool()}
	for range maxChain {
		var block *pem.Block
		if block, chain = pem.Decode(chain); block == nil {
			break
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return c, fmt.Errorf("%w: certificate: %w", webhooks.ErrSignatureInvalid, err)
		}
		if c.leaf == nil {
			c.leaf = parsed
		} else {
			c.intermediates.AddCert(parsed)
		}
	}
	if c.leaf == nil {
		return c, fmt.Errorf("%w: no certificate at the address", webhooks.ErrSignatureInvalid)
	}
	var isRSA bool
	if c.key, isRSA = c.leaf.PublicKey.(*rsa.PublicKey); !isRSA {
		return c, fmt.Errorf("%w: certificate without an RSA key", webhooks.ErrSignatureInvalid)
	}
	c.sandbox = c.leaf.VerifyHostname(sandboxSignerName) == nil
	if !c.sandbox && c.leaf.VerifyHostname(signerName) != nil {
		return c, fmt.Errorf("%w: the certificate does not belong to PayPal's signer of messages", webhooks.ErrSignatureInvalid)
	}
	return c, nil
}

// trusted checks the chain as it was at a time. That it is meant for servers is not required: PayPal signs messages
// with it.
func (c signerCert) trusted(roots *x509.CertPool, at time.Time) error {
	_, err := c.leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: c.intermediates, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return fmt.Errorf("%w: certificate: %w", webhooks.ErrSignatureInvalid, err)
	}
	return nil
}
