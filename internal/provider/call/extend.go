package call

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Extend adds the allowed members of provider_data to a request, in which they replace its own. The
// others are left out: Accepts refuses them. The JSON is the same each time, as a resend under one
// key must be.
func Extend(body any, d gateway.Details, allowed []string) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnfit, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnfit, err)
	}
	for _, name := range allowed {
		if value, ok := d.ProviderData[name]; ok {
			members[name] = value
		}
	}
	return members, nil
}
