package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/paylatch/paylatch/client/api"
)

// Event is an event of paylatch. Its ID is the same in each delivery and on each channel. Package
// inbox takes this ID.
type Event = api.Event

var (
	// ErrNoSecret is returned where there is no secret, or an empty one, which would make any
	// delivery genuine.
	ErrNoSecret = errors.New("client: no secret to verify by")
	// ErrNotGenuine is returned for a delivery that no secret has signed, or that is older or newer
	// than five minutes: answer with 400.
	ErrNotGenuine = errors.New("client: the delivery is not genuine")
)

// ParseEvent returns the event of a delivery to an endpoint, which is signed by Standard
// Webhooks. The secrets are those of the endpoint's configuration (whsec_…), all that are valid
// while one is replaced; one good signature is enough. body is the request's, byte for byte. The time of the
// signature may be five minutes off, either way.
//
// The id in the header must be the event's. The same delivery may come again: act on it once, by Event.ID, and answer
// with 2xx once your writes are on disk.
func ParseEvent(secrets []string, header http.Header, body []byte) (Event, error) {
	if err := verify(secrets, header, body); err != nil {
		return Event{}, err
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return Event{}, fmt.Errorf("client: read the event of a genuine delivery: %w", err)
	}
	if e.ID == "" || e.ID != header.Get(standardwebhooks.HeaderWebhookID) {
		return Event{}, fmt.Errorf("client: a genuine delivery of event %q has the id %q", e.ID, header.Get(standardwebhooks.HeaderWebhookID))
	}
	return e, nil
}

func verify(secrets []string, header http.Header, body []byte) error {
	if len(secrets) == 0 {
		return ErrNoSecret
	}
	var failed error
	for i, secret := range secrets {
		if len(secret) <= len("whsec_") {
			return fmt.Errorf("%w: number %d is empty", ErrNoSecret, i)
		}
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return fmt.Errorf("client: secret %d: %w", i, err)
		}
		if err = webhook.Verify(body, header); err == nil {
			return nil
		}
		failed = err
	}
	return fmt.Errorf("%w: %w", ErrNotGenuine, failed)
}
