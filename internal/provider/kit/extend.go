package kit

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Extend adds the allowed members of provider_data to a request, where they replace members of the same name. It omits
// members that are not allowed; Accepts refuses them. The same arguments always give the same JSON, as a resend under
// one key requires.
func Extend(body any, data gateway.Data, allowed []string) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	for _, name := range allowed {
		if value, ok := data[name]; ok {
			members[name] = value
		}
	}
	return members, nil
}

// With is a request with the allowed members of provider_data. Without such members it is the request itself.
func With(body any, data gateway.Data, allowed gateway.Members) (any, error) {
	if len(data) == 0 {
		return body, nil
	}
	return Extend(body, data, allowed.Names())
}
