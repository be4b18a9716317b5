package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// storable replaces what the database can't hold: an event is never refused for
// what it says.
func storable(r Received) Received {
	e := &r.Event
	for _, part := range []*string{&e.Type, &e.FailureCode, &e.ProviderCode} {
		*part = text(*part)
	}
	for _, name := range []*string{&e.ID, &e.DeliveryID, &e.ProviderPaymentID, &e.Transaction, &e.MovementID, &e.RefundID, &e.RefundReference} {
		*name = storableName(*name)
	}
	e.References = slices.Clone(e.References)
	for i, name := range e.References {
		e.References[i] = storableName(name)
	}
	return r
}

// maxName keeps a name well inside what an index can hold, in bytes.
const maxName = 512

// storableName is an id or another name as it is stored: of one that is too long
// its digest, which is the same each time.
func storableName(name string) string {
	if len(name) <= maxName {
		return text(name)
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// text is what a text of the database can hold of s.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
