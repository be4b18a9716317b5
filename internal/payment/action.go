package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// ActionType is the kind of the customer's next step.
type ActionType string

const (
	// ActionRedirect takes the customer to URL.
	ActionRedirect ActionType = "redirect"
	// ActionPostForm takes the customer to URL by a form with Fields.
	ActionPostForm ActionType = "post_form"
	// ActionSDK has the provider's script go on, with Data.
	ActionSDK ActionType = "sdk"
	// ActionDisplay shows the customer a voucher or a code: Data.
	ActionDisplay ActionType = "display"
)

// NextAction is the step that the customer must take next.
type NextAction struct {
	Type   ActionType        `json:"type"`
	URL    string            `json:"url,omitempty"`
	Fields map[string]string `json:"fields,omitempty"`
	// Data is a JSON object, by the account's kind.
	Data json.RawMessage `json:"data,omitempty"`
	// ExpiresAt is the time at which the action expires; zero if the provider does not state it.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Redirect is the action of going to a page; nil if there is no address.
func Redirect(url string) *NextAction {
	if url == "" {
		return nil
	}
	return &NextAction{Type: ActionRedirect, URL: url}
}

// Text returns the action in the form that ParseAction reads. It is empty for a nil action.
func (n *NextAction) Text() string {
	if n == nil {
		return ""
	}
	text, err := json.Marshal(n)
	if err != nil { // its data is not valid JSON
		return ""
	}
	return string(text)
}

// ParseAction reads the text that Text wrote. It returns nil for any other text.
func ParseAction(text string) *NextAction {
	n := &NextAction{}
	if json.Unmarshal([]byte(text), n) != nil || n.Type == "" {
		return nil
	}
	return n
}

// Keepable reports whether the action is kept as it is.
func (n *NextAction) Keepable() bool {
	if n == nil {
		return true
	}
	texts := []string{n.URL, string(n.Data)}
	for name, value := range n.Fields {
		texts = append(texts, name, value)
	}
	return !slices.ContainsFunc(texts, func(s string) bool { return !IsStorable(s) }) && (len(n.Data) == 0 || json.Valid(n.Data))
}

// digest identifies an action in the log. The log is kept for ever, so it must not hold the action itself: its bearer
// could use it.
func (n *NextAction) digest() string {
	text := n.Text()
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
