package paypal

import "net/http"

// ChecksumOf returns the signed checksum of a body.
var ChecksumOf = checksumOf

// Made reports whether the certificate signed these headers, with this checksum in the body's place.
func Made(chain []byte, h http.Header, webhookID, checksum string) (bool, error) {
	t, err := readTransmission(h)
	if err != nil {
		return false, err
	}
	certificate, err := parseCert(chain)
	if err != nil {
		return false, err
	}
	return certificate.made(t, webhookID, checksum), nil
}
