package adyen

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// item is one NotificationRequestItem (https://docs.adyen.com/api-explorer/Webhooks/1/overview). AdditionalData,
// EventDate and Reason are not signed.
type item struct {
	PSPReference      read.Scalar `json:"pspReference"`
	OriginalReference read.Scalar `json:"originalReference"`
	MerchantAccount   read.Scalar `json:"merchantAccountCode"`
	MerchantReference read.Scalar `json:"merchantReference"`
	Amount            struct {
		Value    read.Scalar `json:"value"`
		Currency read.Scalar `json:"currency"`
	} `json:"amount"`
	EventCode read.Scalar `json:"eventCode"`
	Success   read.Scalar `json:"success"`

	AdditionalData json.RawMessage `json:"additionalData"`
	EventDate      json.RawMessage `json:"eventDate"`
	Reason         json.RawMessage `json:"reason"`

	live string
}

// readItems returns the items of a standard webhook. It reports false if the body is something else.
func readItems(body []byte) (items []item, standard bool, err error) {
	envelope := read.Members(body)
	list, standard := envelope["notificationItems"]
	if !standard {
		return nil, false, nil
	}
	var wrapped []map[string]json.RawMessage
	err = json.Unmarshal(list, &wrapped)
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("%w: items: %w", webhooks.ErrSignatureMalformed, err)
	case !utf8.Valid(body):
		// JSON would turn all invalid bytes into the same character, and so into the same signature.
		return nil, true, fmt.Errorf("%w: items are not UTF-8", webhooks.ErrSignatureMalformed)
	case len(wrapped) == 0:
		return nil, true, fmt.Errorf("%w: no items", webhooks.ErrSignatureMissing)
	}
	if len(wrapped) > read.MaxEvents {
		return nil, true, fmt.Errorf("%w: more than %d items", webhooks.ErrSignatureMalformed, read.MaxEvents)
	}
	var live read.Scalar
	if raw := envelope["live"]; raw != nil {
		_ = live.UnmarshalJSON(raw) // anything but true and false stays open
	}
	items = make([]item, len(wrapped))
	for i, w := range wrapped {
		if items[i], err = readItem(w); err != nil {
			return nil, true, fmt.Errorf("%w: item %d: %w", webhooks.ErrSignatureMalformed, i, err)
		}
		items[i].live = string(live)
	}
	return items, true, nil
}

// itemMember is the name of an item in its place in the list.
const itemMember = "NotificationRequestItem"

func readItem(wrapped map[string]json.RawMessage) (item, error) {
	raw, ok := wrapped[itemMember]
	if !ok {
		return item{}, nil
	}
	var i item
	err := json.Unmarshal(raw, &i)
	return i, err //nolint:wrapcheck // the caller does
}

// signed returns the text that the signature covers.
func (i item) signed() []byte {
	return []byte(strings.Join([]string{
		string(i.PSPReference), string(i.OriginalReference), string(i.MerchantAccount), string(i.MerchantReference),
		string(i.Amount.Value), string(i.Amount.Currency), string(i.EventCode), string(i.Success),
	}, ":"))
}

// signedBy returns the index of the key that signed the item.
func (i item) signedBy(keys [][]byte) (int, error) {
	signature := read.Text(read.Members(i.AdditionalData)["hmacSignature"])
	if signature == "" {
		return 0, fmt.Errorf("%w: additionalData.hmacSignature", webhooks.ErrSignatureMissing)
	}
	for _, field := range []read.Scalar{
		i.PSPReference, i.OriginalReference, i.MerchantAccount,
		i.Amount.Value, i.Amount.Currency, i.EventCode, i.Success,
	} {
		if strings.Contains(string(field), ":") {
			return 0, fmt.Errorf("%w: a colon where what was signed would be ambiguous", webhooks.ErrSignatureMalformed)
		}
	}
	index := read.Match(sha256.New, keys, read.DecodeAll([]string{signature}, read.Base64.DecodeString), i.signed())
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d keys matches", webhooks.ErrSignatureInvalid, len(keys))
	}
	return index, nil
}

// signItems writes the items anew with their signatures.
func (a *Verifier) signItems(body []byte) ([]byte, error) {
	envelope := read.Members(body)
	var wrapped []map[string]json.RawMessage
	if err := read.JSON("items", envelope["notificationItems"], &wrapped); err != nil {
		return nil, err
	}
	for i, w := range wrapped {
		if w == nil {
			return nil, fmt.Errorf("%w: item %d is null", webhooks.ErrPayload, i)
		}
		object := read.Members(w[itemMember])
		w[itemMember] = read.Encode(object) // without members that were there twice
		item, err := readItem(w)
		if err != nil {
			return nil, fmt.Errorf("%w: item: %w", webhooks.ErrPayload, err)
		}
		signature := read.Base64.EncodeToString(read.MAC(sha256.New, a.keys[0], item.signed()))
		w[itemMember] = read.WithMember(object, "additionalData",
			read.WithMember(read.Members(item.AdditionalData), "hmacSignature", read.Encode(signature)))
	}
	return read.WithMember(envelope, "notificationItems", read.Encode(wrapped)), nil
}
