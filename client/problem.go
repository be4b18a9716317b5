package client

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/client/api"
)

// ProblemError is a refusal of the server (RFC 9457). Decide by Code, Retryable and SafeNewKey; Detail is
// for people, as is the page at Type.
type ProblemError struct{ api.Problem }

// Error implements error.
func (p *ProblemError) Error() string {
	return fmt.Sprintf("paylatch: %d %s: %s (request %s)", p.Status, p.Code, p.Detail, p.RequestID)
}

// problem returns the error of an unsuccessful response. If the body is no problem document, such as a proxy's page, the
// error has a Status and no Code.
func problem(status int, body []byte) error {
	p := &ProblemError{}
	if json.Unmarshal(body, &p.Problem) != nil || p.Code == "" {
		p.Problem = api.Problem{Detail: http.StatusText(status)}
	}
	p.Status = status
	return p
}
