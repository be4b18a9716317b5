package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// TLS names the files of a listener's certificate and key and, if clients must have a certificate, the file of its CA; empty
// names are absent files.
type TLS struct{ CertFile, KeyFile, ClientCAFile string }

// reread is how often the certificate's files are read, so that a renewed certificate counts without a restart.
const reread = 10 * time.Second

var errNoCertificates = errors.New("contains no PEM certificate")

// Secure makes a listener speak TLS 1.2 or later, with HTTP/1.1, to which the limits for slow clients apply. It returns an error
// if the files can't be read now. If they can't be read later, the last certificate stays in use, and failed is called.
func (t TLS) Secure(l net.Listener, now func() time.Time, failed func(error)) (net.Listener, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if t.ClientCAFile != "" {
		pem, err := os.ReadFile(t.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("read who issues clients' certificates: %w", err)
		}
		cfg.ClientCAs, cfg.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !cfg.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %w", t.ClientCAFile, errNoCertificates)
		}
	}
	kept := &certificate{files: t, now: now, failed: failed}
	if err := kept.read(); err != nil {
		return nil, err
	}
	cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return kept.current(), nil }
	return tls.NewListener(l, cfg), nil
}

// certificate is the content of the files at the last successful read.
type certificate struct {
	files  TLS
	now    func() time.Time
	failed func(error)

	mu     sync.Mutex
	pair   *tls.Certificate
	looked time.Time
}

func (c *certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	c.pair = &pair
	return nil
}

func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) > reread {
		c.looked = now
		if err := c.read(); err != nil {
			c.failed(err)
		}
	}
	return c.pair
}
