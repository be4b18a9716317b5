package webhooks

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// adyenItem is one NotificationRequestItem
// (https://docs.adyen.com/api-explorer/Webhooks/1/overview). AdditionalData,
// EventDate and Reason are not signed.
type adyenItem struct {
	PSPReference      scalar `json:"pspReference"`
	OriginalReference scalar `json:"originalReference"`
	MerchantAccount   scalar `json:"merchantAccountCode"`
	MerchantReference scalar `json:"merchantReference"`
	Amount            struct {
		Value    scalar `json:"value"`
		Currency scalar `json:"currency"`
	} `json:"amount"`
	EventCode scalar `json:"eventCode"`
	Success   scalar `json:"success"`

	AdditionalData json.RawMessage `json:"additionalData"`
	EventDate      json.RawMessage `json:"eventDate"`
	Reason         json.RawMessage `json:"reason"`

	live string
}

// readAdyenItems returns the items of a standard webhook. It reports false if the
// body is something else.
func readAdyenItems(body []byte) (items []adyenItem, standard bool, err error) {
	envelope := members(body)
	list, standard := envelope["notificationItems"]
	if !standard {
		return nil, false, nil
	}
	var wrapped []map[string]json.RawMessage
	err = json.Unmarshal(list, &wrapped)
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("%w: items: %w", ErrSignatureMalformed, err)
	case !utf8.Valid(body):
		// JSON would turn all invalid bytes into the same character, and so into the same signature.
		return nil, true, fmt.Errorf("%w: items are not UTF-8", ErrSignatureMalformed)
	case len(wrapped) == 0:
		return nil, true, fmt.Errorf("%w: no items", ErrSignatureMissing)
	}
	var live scalar
	if raw := envelope["live"]; raw != nil {
		_ = live.UnmarshalJSON(raw) // what is neither true nor false is not known
	}
	items = make([]adyenItem, len(wrapped))
	for i, w := range wrapped {
		if items[i], err = readAdyenItem(w); err != nil {
			return nil, true, fmt.Errorf("%w: item %d: %w", ErrSignatureMalformed, i, err)
		}
		items[i].live = string(live)
	}
	return items, true, nil
}

// adyenMember is the name of an item in its place in the list.
const adyenMember = "NotificationRequestItem"

func readAdyenItem(wrapped map[string]json.RawMessage) (adyenItem, error) {
	raw, ok := wrapped[adyenMember]
	if !ok {
		return adyenItem{}, nil
	}
	var item adyenItem
	return item, json.Unmarshal(raw, &item) //nolint:wrapcheck // the caller does
}

// signed returns the text that the signature covers.
func (i adyenItem) signed() []byte {
	return []byte(strings.Join([]string{
		string(i.PSPReference), string(i.OriginalReference), string(i.MerchantAccount), string(i.MerchantReference),
		string(i.Amount.Value), string(i.Amount.Currency), string(i.EventCode), string(i.Success),
	}, ":"))
}

// signedBy returns the index of the key that signed the item.
func (i adyenItem) signedBy(keys [][]byte) (int, error) {
	signature := jsonText(members(i.AdditionalData)["hmacSignature"])
	if signature == "" {
		return 0, fmt.Errorf("%w: additionalData.hmacSignature", ErrSignatureMissing)
	}
	for _, field := range []scalar{
		i.PSPReference, i.OriginalReference, i.MerchantAccount,
		i.Amount.Value, i.Amount.Currency, i.EventCode, i.Success,
	} {
		if strings.Contains(string(field), ":") {
			return 0, fmt.Errorf("%w: a colon where what was signed would be ambiguous", ErrSignatureMalformed)
		}
	}
	index := matchMAC(sha256.New, keys, decodeAll([]string{signature}, base64Strict.DecodeString), i.signed())
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d keys matches", ErrSignatureInvalid, len(keys))
	}
	return index, nil
}

// signItems writes the items anew with their signatures.
func (a *Adyen) signItems(body []byte) ([]byte, error) {
	envelope := members(body)
	var wrapped []map[string]json.RawMessage
	if err := decode("items", envelope["notificationItems"], &wrapped); err != nil {
		return nil, err
	}
	for i, w := range wrapped {
		if w == nil {
			return nil, fmt.Errorf("%w: item %d is null", ErrPayload, i)
		}
		object := members(w[adyenMember])
		w[adyenMember] = jsonOf(object) // without members that were there twice
		item, err := readAdyenItem(w)
		if err != nil {
			return nil, fmt.Errorf("%w: item: %w", ErrPayload, err)
		}
		signature := base64Strict.EncodeToString(mac(sha256.New, a.keys[0], item.signed()))
		w[adyenMember] = withMember(object, "additionalData",
			withMember(members(item.AdditionalData), "hmacSignature", jsonOf(signature)))
	}
	return withMember(envelope, "notificationItems", jsonOf(wrapped)), nil
}
