package payment

import "time"

// SavedMethod is a payment method that the provider has stored. Expires is YYYY-MM, or empty.
type SavedMethod struct {
	Token   string `json:"token"`
	Type    string `json:"type"`
	Display string `json:"display"`
	Expires string `json:"expires,omitempty"`
	// RemovedAt is the provider's time from when on it can't be charged any more; nil while it can. An attempt has it where it was
	// read to be shown.
	RemovedAt *time.Time `json:"-"`
}

// Readable returns the method with texts that the database accepts. It returns nil if the token is not accepted: an
// altered token could not be charged.
func (m *SavedMethod) Readable() *SavedMethod {
	if m == nil || m.Token == "" || !Nameable(m.Token) {
		return nil
	}
	return &SavedMethod{Token: m.Token, Type: StorableText(m.Type), Display: StorableText(m.Display), Expires: StorableText(m.Expires)}
}
