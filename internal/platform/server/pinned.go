package server

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// At returns the URL on this machine of a server that listens at an address, with or without TLS.
func At(listen string, secured bool) string {
	if secured {
		return "https://" + strings.TrimPrefix(URL(listen), "http://")
	}
	return URL(listen)
}

// pinnedTimeout is longer than a long poll.
const pinnedTimeout = 90 * time.Second

var errNoCertificate = errors.New("the file has no certificate")

// Pinned returns a client of the service on this machine whose certificate is in a file. The client accepts no other certificate, and does
// not compare names: the certificate names the public host, not this machine's address. Without a file it returns nil, for the default.
func Pinned(certFile string) (*http.Client, error) {
	if certFile == "" {
		return nil, nil //nolint:nilnil // nil is a client's default
	}
	text, err := os.ReadFile(certFile) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("tls.cert_file: %w", err)
	}
	block, rest := pem.Decode(text)
	for block != nil && block.Type != "CERTIFICATE" {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, fmt.Errorf("tls.cert_file: %w", errNoCertificate)
	}
	verify := func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, block.Bytes) {
			return errors.New("the server's certificate differs from the certificate in tls.cert_file")
		}
		return nil
	}
	return &http.Client{Timeout: pinnedTimeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: verify}, //nolint:gosec // verify accepts one certificate alone
	}}, nil
}
