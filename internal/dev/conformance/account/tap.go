package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tap is the transport below the adapter. It notes what identifies a request at the provider, and can cut a connection.
type tap struct {
	next http.RoundTripper
	hide *hider

	mu       sync.Mutex
	noted    []string
	versions map[string]bool
	// status is the status of the last answer. broken is the error of the last request that got no answer. live is evidence of
	// live mode.
	status int
	broken error
	live   string
	// cut selects the request with the lost answer; nil: none. One answer is lost.
	cut  func(r *http.Request, body []byte) bool
	lost []byte
}

// maxAnswer bounds the bytes of an answer that are read.
const maxAnswer = 32 << 20

// errCut is the error of a request after the cut of its connection.
var errCut = errors.New("the connection was cut after the request was sent")

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		sent, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		copied := *req
		copied.Body = io.NopCloser(bytes.NewReader(sent))
		req = &copied
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	t.hide.learnRequest(req)
	resp, err := next.RoundTrip(req)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.broken = err
		return nil, err //nolint:wrapcheck // a transport adds nothing
	}
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	t.hide.learnAnswer(said)
	if t.note(req, sent, resp, said) {
		return nil, errCut
	}
	resp.Body = io.NopCloser(bytes.NewReader(said))
	return resp, nil
}

var (
	// requestID is the form of a header with the provider's id of a request.
	requestID = regexp.MustCompile(`(?i)(request|debug|correlation|trace)-?id$|^pspreference$`)
	idInBody  = regexp.MustCompile(`"request_?[iI]d"\s*:\s*"([^"]{1,128})"`)
	// version is the form of a header with the version of an API, versionInPath that of a path.
	version       = regexp.MustCompile(`(?i)(^|-)version$`)
	versionInPath = regexp.MustCompile(`/(v\d+(?:\.\d+)?(?:beta\d*)?)(?:/|$)`)
	// liveMember is a member of an answer that states live mode.
	liveMember = regexp.MustCompile(`(?i)"(live_?mode|live)"\s*:\s*"?true\b|"mode"\s*:\s*"live"`)
	// identifier is the form of an id that a report may contain.
	identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/=+-]{0,127}$`)
)

// note notes a request and its answer. It reports whether the answer is to be lost.
func (t *tap) note(req *http.Request, sent []byte, resp *http.Response, said []byte) (cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status = resp.StatusCode
	for name, values := range resp.Header {
		if requestID.MatchString(name) {
			t.noted = append(t.noted, values...)
		}
	}
	if m := idInBody.FindSubmatch(said); m != nil {
		t.noted = append(t.noted, string(m[1]))
	}
	for name, values := range req.Header {
		if version.MatchString(name) && len(values) == 1 {
			t.versions[name+": "+values[0]] = true
		}
	}
	if m := versionInPath.FindStringSubmatch(req.URL.Path); m != nil {
		t.versions[m[1]] = true
	}
	if found := liveMember.Find(said); found != nil && t.live == "" {
		t.live = "an answer has " + strings.Join(strings.Fields(string(found)), "")
	}
	if t.cut == nil || !t.cut(req, sent) {
		return false
	}
	t.cut, t.lost = nil, said
	return true
}

// ids returns the ids of the requests since the last call, each once.
func (t *tap) ids() (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range t.noted {
		if identifier.MatchString(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	t.noted = nil
	return ids
}

func (t *tap) last() (status int, broken error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status, t.broken
}

func (t *tap) liveEvidence() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// api lists the versions that the requests named.
func (t *tap) api() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.versions))
}

// loses drops the answer to the first command that contains a text.
func (t *tap) loses(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost, t.cut = nil, func(r *http.Request, body []byte) bool {
		return r.Method != http.MethodGet && (bytes.Contains(body, []byte(text)) || strings.Contains(r.URL.String(), text))
	}
}

// lostAnswer returns the answer that was lost, nil if none was.
func (t *tap) lostAnswer() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = nil
	return t.lost
}
