package e2e_test

import (
	"bufio"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"hash/crc32"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

const (
	paypalWebhook = "1JE4291016473214C"
	paypalHost    = "api.paypal.com"
	paypalSigns   = "messageverificationcerts.sandbox.paypal.com"
)

// paypalSigner is PayPal's side: its key, the key's certificate at an address of PayPal's, to which a proxy leads, and the
// authority that issued the certificate.
type paypalSigner struct {
	key *rsa.PrivateKey
	// roots is a PEM file. environ makes the service find the certificate.
	roots   string
	environ []string
}

func newPayPalSigner(t *testing.T) *paypalSigner {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Tests"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	issued := func(serial int64, name string, template *x509.Certificate) []byte {
		if template == nil {
			template = &x509.Certificate{
				SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
				NotBefore: root.NotBefore, NotAfter: root.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			}
		}
		raw, err := x509.CreateCertificate(rand.Reader, template, root, &key.PublicKey, key)
		require.NoError(t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	}
	s := &paypalSigner{key: key, roots: filepath.Join(t.TempDir(), "roots.pem")}
	require.NoError(t, os.WriteFile(s.roots, issued(1, "", root), 0o600))
	host, err := tls.X509KeyPair(issued(2, paypalHost, nil), pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	require.NoError(t, err)
	proxy := httptest.NewServer(&certificateProxy{t: t, host: host, chain: issued(3, paypalSigns, nil)})
	t.Cleanup(proxy.Close)
	s.environ = []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "SSL_CERT_FILE=" + s.roots, "NO_PROXY=", "no_proxy="}
	return s
}

// sign signs as PayPal does. Each transmission has an id of its own.
func (s *paypalSigner) sign(d *webhooks.Delivery) error {
	id, at := unique("transmission"), d.ReceivedAt.UTC().Format(time.RFC3339)
	checksum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(d.Body)), 10)
	sum := sha256.Sum256([]byte(id + "|" + at + "|" + paypalWebhook + "|" + checksum))
	signature, err := rsa.SignPKCS1v15(nil, s.key, crypto.SHA256, sum[:])
	for name, value := range map[string]string{
		"PAYPAL-TRANSMISSION-ID": id, "PAYPAL-TRANSMISSION-TIME": at, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
		"PAYPAL-CERT-URL":         "https://" + paypalHost + "/v1/notifications/certs/CERT-tests",
		"PAYPAL-TRANSMISSION-SIG": base64.StdEncoding.EncodeToString(signature),
	} {
		d.Header.Set(name, value)
	}
	return err
}

// certificateProxy is a proxy behind which PayPal's host has nothing but the certificate.
type certificateProxy struct {
	t     *testing.T
	host  tls.Certificate
	chain []byte
}

// ServeHTTP implements http.Handler.
func (p *certificateProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != paypalHost+":443" {
		p.t.Errorf("nobody expected %s %s", r.Method, r.Host)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.t.Error(err)
		return
	}
	go p.serve(conn)
}

func (p *certificateProxy) serve(conn net.Conn) {
	defer conn.Close()
	_, _ = conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
	inner := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{p.host}})
	if _, err := http.ReadRequest(bufio.NewReader(inner)); err != nil {
		return
	}
	_, _ = inner.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(p.chain)) + "\r\n\r\n"))
	_, _ = inner.Write(p.chain)
	_ = inner.Close()
}
