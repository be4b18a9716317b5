package payment

import "time"

// Merchant is the merchant behind an account, in test or in live mode: the company that is paid, as its provider names it.
type Merchant struct {
	Account string
	// Number counts the merchants of an account, from 0. An attempt has the number of the merchant with which it was begun.
	Number int
	// Kind is the account's kind. Live is set for real money.
	Kind string
	Live bool
	// IDs are the provider's ids of the merchant, as far as they are known, by the key of the configuration.
	IDs map[string]string
	// Credentials is a fingerprint of the account's secrets.
	Credentials []byte
	// Since is when the merchant was put behind the account the last time.
	Since time.Time
}

// MerchantError is returned for a configuration with another merchant behind an account than the database's. Its text contains the
// remedy.
type MerchantError struct{ Text string }

func (e *MerchantError) Error() string { return e.Text }
