package webhooks

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
)

const (
	// paypalSigner and paypalSandboxSigner are to whom the certificates are issued.
	paypalSigner        = "messageverificationcerts.paypal.com"
	paypalSandboxSigner = "messageverificationcerts.sandbox.paypal.com"
	// maxPayPalCertificates bounds what is kept; PayPal uses one or two at a time.
	maxPayPalCertificates = 16
	// maxChain bounds what a server may make us parse.
	maxChain = 8
)

// paypalCertificate is a chain whose first certificate signs messages.
type paypalCertificate struct {
	leaf          *x509.Certificate
	intermediates *x509.CertPool
	key           *rsa.PublicKey
	sandbox       bool
}

// paypalCertificates fetches certificates and keeps those that have proved
// themselves, by their address: each address names one certificate for good.
type paypalCertificates struct {
	fetch func(ctx context.Context, url string) ([]byte, error)
	roots *x509.CertPool

	mu   sync.Mutex
	kept map[string]paypalCertificate
}

func newPayPalCertificates(c Config) *paypalCertificates {
	return &paypalCertificates{fetch: c.Certificate, roots: c.Roots, kept: map[string]paypalCertificate{}}
}

// of returns the certificate of a transmission, trusted at its time.
func (p *paypalCertificates) of(ctx context.Context, t paypalTransmission) (paypalCertificate, error) {
	if !isPayPalURL(t.certURL) {
		return paypalCertificate{}, fmt.Errorf("%w: certificate is not where PayPal has them", ErrSignatureInvalid)
	}
	certificate, kept := p.find(t.certURL)
	if !kept {
		var err error
		if certificate, err = p.get(ctx, t.certURL); err != nil {
			return paypalCertificate{}, err
		}
	}
	return certificate, certificate.trusted(p.roots, t.sentAt)
}

func (p *paypalCertificates) find(address string) (paypalCertificate, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	certificate, kept := p.kept[address]
	return certificate, kept
}

// keep remembers a certificate. Only one that made a genuine signature is kept, so
// that strangers can't fill the memory or drive the good ones out.
func (p *paypalCertificates) keep(address string, certificate paypalCertificate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxPayPalCertificates {
		clear(p.kept)
	}
	p.kept[address] = certificate
}

// get fetches a certificate. What the caller's function blames on the network
// stays ErrUnavailable; any other failure says that no such certificate exists.
func (p *paypalCertificates) get(ctx context.Context, address string) (paypalCertificate, error) {
	if p.fetch == nil {
		return paypalCertificate{}, fmt.Errorf("%w: no way to fetch certificates", ErrConfig)
	}
	chain, err := p.fetch(ctx, address)
	switch {
	case errors.Is(err, ErrUnavailable), ctx.Err() != nil:
		return paypalCertificate{}, fmt.Errorf("%w: certificate: %w", ErrUnavailable, errors.Join(err, ctx.Err()))
	case err != nil:
		return paypalCertificate{}, fmt.Errorf("%w: certificate: %w", ErrSignatureInvalid, err)
	}
	return parsePayPalCertificate(chain)
}

// isPayPalURL reports whether a certificate may be fetched from an address: any
// other would let the sender bring his own key, or make us call whom he likes. At
// PayPal only the place of certificates, /v1/notifications/certs/, is called, and what
// is beside it, where PayPal's libraries have examples.
func isPayPalURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || strings.ContainsAny(address, "?#") {
		return false
	}
	host := strings.ToLower(u.Host) // with a port, if there is one, which no suffix allows
	name, under := strings.CutPrefix(u.EscapedPath(), "/v1/notifications/")
	return (host == "paypal.com" || strings.HasSuffix(host, ".paypal.com")) &&
		under && isPlainID(strings.TrimPrefix(name, "certs/"))
}

// parsePayPalCertificate reads a PEM chain, the signer's certificate first.
func parsePayPalCertificate(chain []byte) (paypalCertificate, error) {
	c := paypalCertificate{intermediates: x509.NewCertPool()}
	for range maxChain {
		var block *pem.Block
		if block, chain = pem.Decode(chain); block == nil {
			break
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return c, fmt.Errorf("%w: certificate: %w", ErrSignatureInvalid, err)
		}
		if c.leaf == nil {
			c.leaf = parsed
		} else {
			c.intermediates.AddCert(parsed)
		}
	}
	if c.leaf == nil {
		return c, fmt.Errorf("%w: no certificate at the address", ErrSignatureInvalid)
	}
	var isRSA bool
	if c.key, isRSA = c.leaf.PublicKey.(*rsa.PublicKey); !isRSA {
		return c, fmt.Errorf("%w: certificate without an RSA key", ErrSignatureInvalid)
	}
	c.sandbox = c.leaf.VerifyHostname(paypalSandboxSigner) == nil
	if !c.sandbox && c.leaf.VerifyHostname(paypalSigner) != nil {
		return c, fmt.Errorf("%w: certificate is not of PayPal's signer of messages", ErrSignatureInvalid)
	}
	return c, nil
}

// trusted checks the chain as it was at a time. That it is meant for servers is
// not asked: PayPal signs messages with it.
func (c paypalCertificate) trusted(roots *x509.CertPool, at time.Time) error {
	_, err := c.leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: c.intermediates, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return fmt.Errorf("%w: certificate: %w", ErrSignatureInvalid, err)
	}
	return nil
}
