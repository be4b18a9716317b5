package rejected

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/webhooks"
)

// Box encrypts; *auth.Sealer is one.
type Box interface {
	// Seal encrypts a text that only Open with the same aad can read.
	Seal(text, aad []byte) []byte
	Open(sealed, aad []byte) ([]byte, error)
}

// form is the sealed content of a delivery. It is encoded by gob, which keeps bytes that are no UTF-8 and accepts rows of a
// version with other fields.
type form struct {
	Method, URL, Topic string
	Header             http.Header
	Body               []byte
	RemoteAddr         netip.Addr
	ReceivedAt         time.Time
}

// bound returns the associated data of a sealed delivery, so that it can't be opened as another delivery.
func bound(account string, id uuid.UUID) []byte {
	return append([]byte("rejected delivery "+account+" "), id[:]...)
}

// seal encrypts a delivery with everything that its verification may need. Cookies prove nothing at any provider.
func seal(box Box, account string, id uuid.UUID, d webhooks.Delivery) ([]byte, error) {
	header := d.Header.Clone()
	header.Del("Cookie")
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(form{d.Method, d.URL, d.Topic, header, d.Body, d.RemoteAddr, d.ReceivedAt})
	if err != nil {
		return nil, fmt.Errorf("encode a delivery: %w", err)
	}
	return box.Seal(text.Bytes(), bound(account, id)), nil
}

// open is the inverse of seal.
func open(box Box, account string, id uuid.UUID, sealed []byte) (webhooks.Delivery, error) {
	text, err := box.Open(sealed, bound(account, id))
	if err != nil {
		return webhooks.Delivery{}, fmt.Errorf("open a delivery: %w", err)
	}
	var f form
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&f); err != nil {
		return webhooks.Delivery{}, fmt.Errorf("decode a delivery: %w", err)
	}
	if f.Header == nil {
		f.Header = http.Header{}
	}
	return webhooks.Delivery{
		Method: f.Method, URL: f.URL, Topic: f.Topic, Header: f.Header, Body: f.Body, RemoteAddr: f.RemoteAddr, ReceivedAt: f.ReceivedAt,
	}, nil
}
