package webhooks

import "net/http"

// What the tests of the package's own tools see of them.
var (
	DerivedID       = derivedID
	MoneyOf         = moneyOf
	StripeExponents = stripeExponents
	ISODigits       = isoDigits
	PayPalChecksum  = paypalChecksum
)

// PayPalMade reports whether the certificate signed what these headers say, with
// this checksum in the body's place.
func PayPalMade(chain []byte, h http.Header, webhookID, checksum string) (bool, error) {
	t, err := readPayPalTransmission(h)
	if err != nil {
		return false, err
	}
	certificate, err := parsePayPalCertificate(chain)
	if err != nil {
		return false, err
	}
	return certificate.made(t, webhookID, checksum), nil
}

// RobokassaSum is the hash over the values of a form: the last but the first three
// stand where a notification has the merchant's own parameters.
func RobokassaSum(hash, first, second, third string, last ...string) []byte {
	return robokassaResult{amount: first, invoice: second, shop: last}.sum(robokassaHashes[hash], third)
}
