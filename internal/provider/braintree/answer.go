package braintree

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refusal is a definitive error of Braintree (api-error-response). It is a validation error, or has a declined or
// rejected transaction.
type refusal struct {
	status int
	codes  []string
	// transaction is nil if Braintree created no transaction.
	transaction *transaction
}

// node is any part of a response. The errors in an api-error-response are nested as deep as the fields that they
// concern.
type node struct {
	XMLName xml.Name `xml:""`
	Text    string   `xml:",chardata"`
	Nodes   []node   `xml:",any"`
}

// codes returns the codes of all errors below a node.
func (n node) codes() (all []string) {
	for _, inner := range n.Nodes {
		if n.XMLName.Local == "error" && inner.XMLName.Local == "code" {
			all = append(all, strings.TrimSpace(inner.Text))
		}
		all = append(all, inner.codes()...)
	}
	return all
}

// read decodes a success into out, which names its root element, or returns the refusal. It distinguishes the same
// statuses as the official libraries (braintree_node, lib/braintree/http.js). Any other response may come from a proxy,
// and is not a refusal. The same holds for a response without a body and without Braintree's own headers.
func read(a kit.Answer, out any) (*refusal, error) {
	switch a.Status {
	case http.StatusOK, http.StatusCreated:
		if err := xml.Unmarshal(a.Body, out); err != nil {
			return nil, fmt.Errorf("read the answer of Braintree: %w", err)
		}
		return nil, nil //nolint:nilnil // a success
	case http.StatusUnprocessableEntity:
		return readErrors(a)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		if genuine(a) {
			return &refusal{status: a.Status}, nil
		}
	}
	return nil, fmt.Errorf("braintree responded with %d", a.Status)
}

// genuine reports whether a response without a body comes from Braintree. It checks for headers of recorded responses
// (https://github.com/solidusio/solidus_paypal_braintree, spec/fixtures/cassettes/gateway/cancel/missing.yml).
func genuine(a kit.Answer) bool {
	return a.Header.Get("X-Authentication") != "" || a.Header.Get("X-Broxyid") != ""
}

type apiError struct {
	XMLName     xml.Name     `xml:"api-error-response"`
	Transaction *transaction `xml:"transaction"`
	Errors      node         `xml:"errors"`
}

func readErrors(a kit.Answer) (*refusal, error) {
	var said apiError
	if err := xml.Unmarshal(a.Body, &said); err != nil {
		return nil, fmt.Errorf("read the errors of Braintree: %w", err)
	}
	r := &refusal{status: a.Status, codes: said.Errors.codes(), transaction: said.Transaction}
	if r.transaction == nil && len(r.codes) == 0 {
		return nil, fmt.Errorf("braintree responded with %d without an error", a.Status)
	}
	return r, nil
}

// These are the errors about a request's key (braintree_python, braintree/error_codes.py).
const (
	keyOfAnother = "915232"
	keyInFlight  = "915233"
	keyFailed    = "915234"
	keyBroken    = "915235"
)

// open reports whether a refusal leaves the outcome of an earlier request with the same key unknown.
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

// has reports whether the refusal contains an error with this code.
func (r *refusal) has(code string) bool {
	return strings.Contains(" "+strings.Join(r.codes, " ")+" ", " "+code+" ")
}

// code returns the code of the first error, or the name of the HTTP status.
func (r *refusal) code() string {
	if len(r.codes) > 0 {
		return r.codes[0]
	}
	return cmp.Or(strings.ReplaceAll(strings.ToLower(http.StatusText(r.status)), " ", "_"), "rejected")
}

// Error implements error. It omits the texts, because they may repeat request data.
func (r *refusal) Error() string {
	return fmt.Sprintf("braintree responded with %d %s", r.status, r.code())
}
