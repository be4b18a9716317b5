package braintree

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/internal/provider/call"
)

// refusal is a definitive error of Braintree's, an api-error-response: of validation, or with a transaction that was
// declined or rejected.
type refusal struct {
	status int
	codes  []string
	// transaction is nil where none was made.
	transaction *transaction
}

// node is any part of a response; the errors of an api-error-response are as deep as what they are about.
type node struct {
	XMLName xml.Name `xml:""`
	Text    string   `xml:",chardata"`
	Nodes   []node   `xml:",any"`
}

// codes are those of the errors below a node.
func (n node) codes() (all []string) {
	for _, inner := range n.Nodes {
		if n.XMLName.Local == "error" && inner.XMLName.Local == "code" {
			all = append(all, strings.TrimSpace(inner.Text))
		}
		all = append(all, inner.codes()...)
	}
	return all
}

// read decodes a success into out, which names its own element, or returns the refusal. The statuses are those that
// the official libraries distinguish (braintree_node, lib/braintree/http.js). Whatever else comes may be a proxy's, as
// may a response without a body that lacks the header of Braintree's own ones: it refuses nothing.
func read(a call.Answer, out any) (*refusal, error) {
	switch a.Status {
	case http.StatusOK, http.StatusCreated:
		if err := xml.Unmarshal(a.Body, out); err != nil {
			return nil, fmt.Errorf("read the answer of Braintree: %w", err)
		}
		return nil, nil //nolint:nilnil // it is a success
	case http.StatusUnprocessableEntity:
		return readErrors(a)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		if genuine(a) {
			return &refusal{status: a.Status}, nil
		}
	}
	return nil, fmt.Errorf("braintree answers %d", a.Status)
}

// genuine reports whether a response without a body is Braintree's own, by the header that recorded ones have
// (https://github.com/solidusio/solidus_paypal_braintree, spec/fixtures/cassettes/gateway/cancel/missing.yml).
func genuine(a call.Answer) bool {
	return a.Header.Get("X-Authentication") != "" || a.Header.Get("X-Broxyid") != ""
}

type apiError struct {
	XMLName     xml.Name     `xml:"api-error-response"`
	Transaction *transaction `xml:"transaction"`
	Errors      node         `xml:"errors"`
}

func readErrors(a call.Answer) (*refusal, error) {
	var said apiError
	if err := xml.Unmarshal(a.Body, &said); err != nil {
		return nil, fmt.Errorf("read the errors of Braintree: %w", err)
	}
	r := &refusal{status: a.Status, codes: said.Errors.codes(), transaction: said.Transaction}
	if r.transaction == nil && len(r.codes) == 0 {
		return nil, fmt.Errorf("braintree answers %d without an error", a.Status)
	}
	return r, nil
}

// Errors about the key of a request (braintree_python, braintree/error_codes.py).
const (
	keyOfAnother = "915232"
	keyInFlight  = "915233"
	keyFailed    = "915234"
	keyBroken    = "915235"
)

// open reports whether a refusal leaves open what became of an earlier request with the same key.
func (r *refusal) open() bool {
	if r == nil {
		return false
	}
	for _, code := range r.codes {
		switch code {
		case keyOfAnother, keyInFlight, keyFailed, keyBroken:
			return true
		}
	}
	return false
}

func (r *refusal) missing() bool { return r != nil && r.status == http.StatusNotFound }

// has reports whether an error of a code is among those of a refusal.
func (r *refusal) has(code string) bool {
	return strings.Contains(" "+strings.Join(r.codes, " ")+" ", " "+code+" ")
}

// code is the first error's, or the name of the status.
func (r *refusal) code() string {
	if len(r.codes) > 0 {
		return r.codes[0]
	}
	return cmp.Or(strings.ReplaceAll(strings.ToLower(http.StatusText(r.status)), " ", "_"), "rejected")
}

// Error implements error. The texts are left out: they may repeat what was sent.
func (r *refusal) Error() string { return fmt.Sprintf("braintree answers %d %s", r.status, r.code()) }
