package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
)

// NoBody is the body of a command that takes none. The request is empty but has the type of JSON, as the samples of PayPal,
// Square and YooKassa have it.
var NoBody any = noBody{} //nolint:gochecknoglobals // a constant

type noBody struct{}

// DoJSON is Do with a JSON body, or with an empty body if body is nil. It sends nothing if the body can't be marshaled.
func DoJSON(ctx context.Context, client *http.Client, r Request, body any) (Answer, error) {
	if body == nil {
		return Do(ctx, client, r)
	}
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", "application/json")
	if body == NoBody {
		return Do(ctx, client, r)
	}
	var err error
	if r.Body, err = JSON(body); err != nil {
		return Answer{}, err
	}
	return Do(ctx, client, r)
}

// escape is a surrogate pair, any other escape of a code unit, or a short escape.
var escape = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.`)

// JSON returns the JSON of a request. It escapes only the characters that JSON requires to be escaped: GoPay's firewall
// refuses a body with \u0026 (https://github.com/gopaycommunity/gopay-php-api, src/GoPay.php, encodeData).
func JSON(body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	return escape.ReplaceAllFunc(raw, unescaped), nil
}

// unescaped returns the character of an escape, or the escape itself if JSON requires it.
func unescaped(escape []byte) []byte {
	var text string
	if escape[1] != 'u' || json.Unmarshal(slices.Concat([]byte{'"'}, escape, []byte{'"'}), &text) != nil ||
		text < " " || text == `"` || text == `\` || text == "\uFFFD" {
		return escape
	}
	return []byte(text)
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
