package account

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hider takes secrets out of texts: those of the account, and those that requests and answers showed.
type hider struct {
	mu      sync.Mutex
	secrets []string
}

// shortest is the length of the shortest text that counts as a secret. A shorter one would tear words apart.
const shortest = 4

const hidden = "(hidden)"

func newHider(secrets []string) *hider {
	h := &hider{}
	h.add(secrets...)
	return h
}

func (h *hider) add(secrets ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= shortest && !slices.Contains(h.secrets, s) {
			h.secrets = append(h.secrets, s)
		}
	}
	slices.SortStableFunc(h.secrets, func(a, b string) int { return len(b) - len(a) }) // a part of a longer one comes later
}

var (
	// bearing is the form of a header with a credential or a signature.
	bearing = regexp.MustCompile(`(?i)auth|secret|signature|token|(^|-)api-?key|password|cookie`)
	// issued are members of an answer with a credential.
	issued = regexp.MustCompile(`(?i)"(?:access_token|refresh_token|id_token|client_?secret|session_?token|signature|password|secret)"\s*:\s*"([^"]+)"`)
	// formed are the forms of credentials by themselves.
	formed = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}|\b(?:[sr]k|whsec|plk|pdl|sq0[a-z]+|rzp_(?:test|live)|test|live|sandbox)_[A-Za-z0-9_+/=-]{12,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`)
)

// learnRequest learns the credentials and signatures in the headers of a request.
func (h *hider) learnRequest(r *http.Request) { h.learnHeader(r.Header) }

func (h *hider) learnHeader(header http.Header) {
	for name, values := range header {
		if !bearing.MatchString(name) {
			continue
		}
		for _, value := range values {
			h.add(value)
			scheme, rest, found := strings.Cut(value, " ")
			if !found {
				continue
			}
			h.add(rest)
			if text, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
				_, password, _ := strings.Cut(string(text), ":")
				h.add(string(text), password)
			}
		}
	}
}

// learnAnswer learns the credentials that an answer issues.
func (h *hider) learnAnswer(body []byte) {
	for _, m := range issued.FindAllSubmatch(body, -1) {
		h.add(string(m[1]))
	}
}

// text returns a text without secrets.
func (h *hider) text(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.secrets {
		text = strings.ReplaceAll(text, s, hidden)
	}
	return formed.ReplaceAllLiteralString(text, hidden)
}

func (h *hider) texts(texts []string) []string {
	clean := make([]string, 0, len(texts))
	for _, t := range texts {
		clean = append(clean, h.text(t))
	}
	return clean
}

func (h *hider) result(r Result) Result {
	r.Text, r.ToDo = h.text(r.Text), h.text(r.ToDo)
	r.Payments, r.RequestIDs = h.texts(r.Payments), h.texts(r.RequestIDs)
	return r
}
