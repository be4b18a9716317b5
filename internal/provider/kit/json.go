package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/internal/gateway"
)

// DoJSON is Do with a JSON body, or with an empty body if body is nil. It sends nothing if the body can't be marshaled.
func DoJSON(ctx context.Context, client *http.Client, r Request, body any) (Answer, error) {
	if body == nil {
		return Do(ctx, client, r)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	r.Body, r.Header = raw, r.Header.Clone()
	r.Header.Set("Content-Type", "application/json")
	return Do(ctx, client, r)
}

var errNotAnObject = errors.New("the provider's answer is not a JSON object")

// Read decodes a response that is a JSON object. It returns an error for any other value, including null.
func (a Answer) Read(out any) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(a.Body, &object); err != nil || object == nil {
		return errNotAnObject
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return fmt.Errorf("read the provider's answer: %w", err)
	}
	return nil
}
