package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/server"
)

// issue writes a certificate for this machine that is its own issuer, and its key.
func issue(t *testing.T, dir, name string) (cert, key string, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	pair, err = tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	return cert, key, pair
}

// shaken returns the name in the certificate that a handshake shows, of a client with certificates of its own or without.
func shaken(t *testing.T, address string, mine ...tls.Certificate) (name, protocol string, err error) {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: mine, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		return "", "", err
	}
	defer func() { _ = c.Close() }()
	// Of TLS 1.3 the client's certificate is refused behind the handshake.
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return "", "", err
	}
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName, c.ConnectionState().NegotiatedProtocol, nil
}

// secured listens with files, and greets whoever gets through; its clock is in the test's hands.
func secured(t *testing.T, files server.TLS, clock *atomic.Int64, failed func(error)) string {
	t.Helper()
	plain, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	l, err := files.Secure(plain, func() time.Time { return time.Unix(clock.Load(), 0) }, failed)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("x"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func TestSecure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, _ := issue(t, dir, "one")
	var clock, failures atomic.Int64
	clock.Store(1000)
	address := secured(t, server.TLS{CertFile: cert, KeyFile: key}, &clock, func(error) { failures.Add(1) })
	name, protocol, err := shaken(t, address)
	require.NoError(t, err)
	require.Equal(t, "one", name)
	require.Equal(t, "http/1.1", protocol)

	renewed, renewedKey, _ := issue(t, dir, "two")
	require.NoError(t, os.Rename(renewed, cert))
	require.NoError(t, os.Rename(renewedKey, key))
	clock.Add(11)
	name, _, err = shaken(t, address)
	require.NoError(t, err)
	require.Equal(t, "two", name)

	require.NoError(t, os.WriteFile(key, []byte("half a fi"), 0o600))
	clock.Add(11)
	name, _, err = shaken(t, address)
	require.NoError(t, err)
	require.Equal(t, "two", name, "the last one that could be read")
	require.Equal(t, int64(1), failures.Load())
}

func TestSecureClients(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, _ := issue(t, dir, "service")
	ca, _, known := issue(t, dir, "known")
	_, _, stranger := issue(t, dir, "stranger")
	var clock atomic.Int64
	address := secured(t, server.TLS{CertFile: cert, KeyFile: key, ClientCAFile: ca}, &clock, func(err error) { t.Error(err) })
	_, _, err := shaken(t, address, known)
	require.NoError(t, err)
	_, _, err = shaken(t, address, stranger)
	require.Error(t, err)
	_, _, err = shaken(t, address)
	require.Error(t, err)
}

func TestSecureRefusesFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, _ := issue(t, dir, "service")
	_, err := server.TLS{CertFile: cert, KeyFile: filepath.Join(dir, "none")}.Secure(nil, time.Now, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = server.TLS{CertFile: cert, KeyFile: key, ClientCAFile: key}.Secure(nil, time.Now, nil)
	require.ErrorContains(t, err, "contains no PEM certificate")
}
