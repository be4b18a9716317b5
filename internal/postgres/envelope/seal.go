package envelope

import (
	"bytes"
	"context"
	"crypto/cipher"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// form is the first byte of a sealed text. The id of the data key follows, and then the cipher's output.
const form = 2

// headBytes is the length of the bytes before the cipher's output.
const headBytes = 1 + len(uuid.UUID{})

// Sealing encrypts with the key of one month.
type Sealing struct {
	// At is the time of sealing, to the second. It determines the partition of the stored row.
	At   time.Time
	id   uuid.UUID
	aead cipher.AEAD
}

// Sealing returns the current encryption. If this month's key is not in memory, it is read or made on a connection of
// its own.
func (k *Keys) Sealing(ctx context.Context) (Sealing, error) {
	if k == nil || k.box == nil {
		return Sealing{}, errNoBox
	}
	at, d, found := k.present()
	if !found {
		if err := k.need(ctx); err != nil {
			return Sealing{}, err
		}
		if at, d, found = k.present(); !found { // the month has just changed
			return Sealing{}, fmt.Errorf("%w: no data key for %s", payment.ErrUnavailable, at.Format("2006-01"))
		}
	}
	return Sealing{at, d.id, k.cipher(d.id)}, nil
}

// Seal encrypts the headers, as JSON, and the body of an event, and binds them to its id.
func (s Sealing) Seal(event uuid.UUID, headers, body []byte) []byte {
	text := append(append(append(make([]byte, 0, len(headers)+1+len(body)), headers...), '\n'), body...)
	return s.text(event, text)
}

func (s Sealing) text(event uuid.UUID, text []byte) []byte {
	sealed := make([]byte, 0, headBytes+len(text)+s.aead.Overhead())
	sealed = append(append(sealed, form), s.id[:]...)
	return s.aead.Seal(sealed, nil, text, event[:]) //nolint:gosec // the cipher makes a random nonce itself
}

// Open is the inverse of Seal. It returns ErrClosed.
func (k *Keys) Open(ctx context.Context, event uuid.UUID, sealed []byte) (headers map[string]string, body []byte, err error) {
	text, err := k.text(ctx, event, sealed)
	if err != nil {
		return nil, nil, fmt.Errorf("open what the provider sent as event %s: %w", event, err)
	}
	head, body, found := bytes.Cut(text, []byte{'\n'})
	if err := json.Unmarshal(head, &headers); err != nil || !found {
		return nil, nil, fmt.Errorf("headers of event %s have another form: %w", event, err)
	}
	return headers, body, nil
}

// Read returns the provider's bytes and headers of an event; nil if they are gone. It returns ErrClosed.
func (k *Keys) Read(ctx context.Context, db dbsqlc.DBTX, event uuid.UUID) (headers map[string]string, body []byte, err error) {
	if k == nil {
		return nil, nil, ErrClosed
	}
	sealed, err := k.q.EventBytes(ctx, db, event)
	if err != nil {
		return nil, nil, fmt.Errorf("read what the provider sent as event %s: %w", event, err)
	}
	for _, text := range sealed {
		headers, body, err = k.Open(ctx, event, text)
	}
	return headers, body, err
}

func (k *Keys) text(ctx context.Context, event uuid.UUID, sealed []byte) ([]byte, error) {
	if k == nil || k.box == nil || len(sealed) < headBytes || sealed[0] != form {
		return nil, ErrClosed
	}
	aead, err := k.find(ctx, uuid.UUID(sealed[1:headBytes]))
	if err != nil {
		return nil, err
	}
	if aead == nil {
		return nil, ErrClosed
	}
	text, err := aead.Open(nil, nil, sealed[headBytes:], event[:])
	if err != nil {
		return nil, fmt.Errorf("%w: it was changed, or is another event's", ErrClosed)
	}
	return text, nil
}
