package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"go.yaml.in/yaml/v3"

	"github.com/paylatch/paylatch/internal/dev/published"
)

// Described returns a fake whose requests and answers are checked against the provider's own API description. The
// document is the name of a published file, or a path. The prefix precedes the description's paths. Without the
// published file, Described returns the fake unchanged. A test of the description itself must call NeedDescribed first.
func Described(t *testing.T, document, prefix string, fake http.Handler) http.Handler {
	t.Helper()
	path := document
	if !filepath.IsAbs(path) {
		var err error
		if path, err = published.Find(t, published.Specs, document); err != nil {
			t.Logf("no API description to check with: %v", err)
			return fake
		}
	}
	router, err := load(path, prefix)
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return &checked{fake: fake, router: router, report: t.Errorf}
}

// NeedDescribed skips the test if the provider's API description is not available.
func NeedDescribed(t *testing.T, document string) {
	t.Helper()
	if !filepath.IsAbs(document) {
		published.Path(t, published.Specs, document)
	}
}

// Document is an API description: its file, the prefix of its paths, and the beginning of the paths that it describes
// ("" for all paths).
type Document struct{ File, Prefix, Paths string }

// RunDescribed is Run with a fake that is checked against the provider's own descriptions, see Described. It skips the
// test if a description is missing.
func RunDescribed(t *testing.T, s Suite, documents ...Document) {
	t.Helper()
	for _, d := range documents {
		NeedDescribed(t, d.File)
	}
	plain := s.Fake
	s.Fake = func(t *testing.T) http.Handler {
		t.Helper()
		fake := plain(t)
		checked := make([]http.Handler, len(documents))
		for i, d := range documents {
			checked[i] = Described(t, d.File, d.Prefix, fake)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i, d := range documents {
				if strings.HasPrefix(r.URL.Path, d.Paths) {
					checked[i].ServeHTTP(w, r)
					return
				}
			}
			fake.ServeHTTP(w, r)
		})
	}
	Run(t, s)
}

// astray is an id that leads to another address if it is not escaped.
const astray = "../x?y=z#"

type described struct {
	once   sync.Once
	router routers.Router
	err    error
}

// descriptions caches the parsed files, because parsing a large file takes a second.
var descriptions sync.Map //nolint:gochecknoglobals // a cache of files that don't change

func load(path, prefix string) (routers.Router, error) {
	kept, _ := descriptions.LoadOrStore(path+" "+prefix, &described{})
	d, _ := kept.(*described)
	d.once.Do(func() {
		var raw []byte
		if raw, d.err = readJSON(path); d.err != nil {
			return
		}
		// The alternatives of some descriptions overlap, so a value may match two of them.
		raw = bytes.ReplaceAll(raw, []byte(`"oneOf"`), []byte(`"anyOf"`))
		if raw, d.err = plain(raw); d.err != nil {
			return
		}
		d.router, d.err = routed(raw, prefix)
	})
	return d.router, d.err
}

// readJSON reads a description as JSON, even if the file is YAML.
func readJSON(path string) ([]byte, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // see Described
	if err != nil || filepath.Ext(path) != ".yaml" {
		return raw, err //nolint:wrapcheck // the caller names the file
	}
	var document any
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the file
	}
	return json.Marshal(document) //nolint:wrapcheck // the caller names the file
}

// plain turns a description of version 3.1 into version 3.0. The two are equivalent for plain schemas. The validator of
// 3.1 compiles each schema again for every value, which is slow.
func plain(raw []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the file
	}
	if doc["openapi"] != "3.1.0" {
		return raw, nil
	}
	doc["openapi"] = "3.0.3"
	if info, ok := doc["info"].(map[string]any); ok {
		delete(info, "license")
		delete(info, "summary")
	}
	delete(doc, "webhooks") // no test sends a webhook
	single(doc)
	return json.Marshal(doc) //nolint:wrapcheck // what was read as JSON can be written
}

// single writes "one type or null" in the form of version 3.0.
func single(part any) {
	switch part := part.(type) {
	case map[string]any:
		if types, ok := part["type"].([]any); ok && len(types) == 2 && slices.Contains(types, any("null")) {
			i := slices.IndexFunc(types, func(t any) bool { return t != "null" })
			part["type"], part["nullable"] = types[i], true
		}
		if choices, ok := part["anyOf"].([]any); ok {
			others := slices.DeleteFunc(slices.Clone(choices), isNull)
			part["anyOf"], part["nullable"] = others, len(others) < len(choices) || part["nullable"] == true
		}
		for _, inner := range part {
			single(inner)
		}
	case []any:
		for _, inner := range part {
			single(inner)
		}
	}
}

func isNull(schema any) bool {
	only, ok := schema.(map[string]any)
	return ok && only["type"] == "null"
}

func routed(raw []byte, prefix string) (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the file
	}
	doc.Servers = openapi3.Servers{{URL: prefix + "/"}}
	// The providers' examples break their own schemas.
	return legacy.NewRouter(doc, openapi3.DisableExamplesValidation()) //nolint:wrapcheck // the caller names the file
}

// checked is a fake whose requests and answers are checked.
type checked struct {
	fake   http.Handler
	router routers.Router
	report func(format string, args ...any)
}

// ServeHTTP implements http.Handler.
func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	asked := r.Clone(context.WithoutCancel(r.Context()))
	asked.Body = io.NopCloser(bytes.NewReader(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	heard := httptest.NewRecorder()
	c.fake.ServeHTTP(heard, r)
	if strings.Contains(r.URL.Path+string(body), astray) || leftOut(r.URL.Path) {
		// The id fits no description, or the stored descriptions leave this path out.
	} else if err := c.check(asked, heard); err != nil {
		c.report("%s %s %s: %v", r.Method, r.URL.EscapedPath(), body, err)
	}
	maps.Copy(w.Header(), heard.Header())
	w.WriteHeader(heard.Code)
	_, _ = w.Write(heard.Body.Bytes())
}

// leftOut reports whether a path leads to stored payment methods or to disputes. The stored descriptions cover payments
// only.
func leftOut(path string) bool {
	for _, part := range []string{"/cards/", "/instruments/", "/mandates/", "/vault/", "/storedPaymentMethods", "/GetCardList", "/disputes"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

func (c *checked) check(r *http.Request, heard *httptest.ResponseRecorder) error {
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		return fmt.Errorf("no such address: %w", err)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil && !oddID(err) {
		return fmt.Errorf("the request does not fit the description: %w", err)
	}
	status := heard.Code
	if status >= http.StatusBadRequest && route.Operation.Responses.Status(status) == nil {
		if tellsErrors(route.Operation.Responses) {
			return nil // the description leaves this error out
		}
		// A description without error responses has the error in the success response.
		status = http.StatusOK
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: heard.Header(), Options: in.Options,
	}
	out.SetBodyBytes(heard.Body.Bytes())
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		return fmt.Errorf("the fake's answer (%d %s) does not fit the description: %w", heard.Code, heard.Body, err)
	}
	return nil
}

// oddID reports whether the error is about an id in the path. The suite sends ids of a wrong form, because an adapter
// need not check that form.
func oddID(err error) bool {
	var several openapi3.MultiError
	if errors.As(err, &several) && len(several) == 1 {
		err = several[0]
	}
	var wrong *openapi3filter.RequestError
	return errors.As(err, &wrong) && wrong.Parameter != nil && wrong.Parameter.In == openapi3.ParameterInPath
}

func tellsErrors(responses *openapi3.Responses) bool {
	for status := range responses.Map() {
		if !strings.HasPrefix(status, "2") {
			return true
		}
	}
	return false
}
