package e2e_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// devSecret signs the tokens of the consoles in these tests.
const devSecret = "PAYLATCH_AUTH_HS256_SECRET=" + secret

// leftAlone keeps the reconciler from payments that a person is about to ask for.
const leftAlone = "PAYLATCH_RECONCILE_AFTER=1h"

// openConsole starts `paylatch dev`; tokens of this package are its own.
func openConsole(t *testing.T, environ ...string) *demoShop {
	t.Helper()
	patient := []string{"PAYLATCH_PROVIDER_TIMEOUT=20s", "PAYLATCH_IDEMPOTENCY_LEASE=21s", devSecret}
	return openDev(t, append(patient, environ...)...)
}

// person is a person with a browser that runs no script. If a request got 503, as on a busy machine, the person sends it again, as the
// page asks. A blunt person does not.
type person struct {
	t     *testing.T
	base  string
	http  *http.Client
	blunt bool
}

func newPerson(t *testing.T, base string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t: t, base: base, http: &http.Client{
		Jar: jar, Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn is a person who pasted a token.
func signedIn(t *testing.T, base, name, role string) *person {
	t.Helper()
	p := newPerson(t, base)
	p.post("/support/sign-in", "token", token(name, role)).is(t, http.StatusSeeOther)
	return p
}

func (p *person) send(method, path, body string, headers ...string) answer {
	p.t.Helper()
	for end := time.Now().Add(soon); ; breathe(p.t.Context(), pause) {
		a := p.once(method, path, body, headers)
		if p.blunt || a.status != http.StatusServiceUnavailable || time.Now().After(end) {
			return a
		}
	}
}

func (p *person) once(method, path, body string, headers []string) answer {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	require.NoError(p.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := p.http.Do(r)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, text: text, err: err}
}

func (p *person) get(path string, headers ...string) answer {
	p.t.Helper()
	return p.send(http.MethodGet, path, "", headers...)
}

// post sends a form of names and values.
func (p *person) post(path string, fields ...string) answer {
	p.t.Helper()
	return p.send(http.MethodPost, path, formOf(fields...))
}

func formOf(fields ...string) string {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form.Encode()
}

// page returns the text of a response as a person reads it.
func (a answer) page() string {
	text := regexp.MustCompile(`(?s)<(style|script).*?</(style|script)>|<[^>]*>`).ReplaceAllString(string(a.text), " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// hidden is a hidden field of a page's form.
func (a answer) hidden(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)"`).FindSubmatch(a.text)
	require.NotNil(t, found, "%s", a.text)
	return html.UnescapeString(string(found[1]))
}

// lastHidden is a hidden field of the last form of a page that has it.
func (a answer) lastHidden(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="`+name+`" value="([^"]*)"`).FindAllSubmatch(a.text, -1)
	require.NotEmpty(t, found, "%s", a.text)
	return html.UnescapeString(string(found[len(found)-1][1]))
}

// followed returns the page to which a response redirects.
func (p *person) followed(a answer) answer {
	p.t.Helper()
	a.is(p.t, http.StatusSeeOther)
	return p.get(a.header.Get("Location"))
}

// deeds are the audit log of a person as "action target outcome reason", oldest
// first, without the sign-ins.
func (r *rig) deeds(t *testing.T, actor string) []string {
	t.Helper()
	return column[string](t, r, `SELECT action || ' ' || target || ' ' || outcome || ' ' || reason FROM staff_audit WHERE actor = $1 AND action NOT LIKE 'sign%' ORDER BY entry_id`, actor)
}

// bought is an order that u1 has tried to pay.
func (s *demoShop) bought(t *testing.T, order, payToken string) attempt {
	t.Helper()
	c := client{base: s.base, token: token("u1", "customer")}
	c.createOrder(t.Context(), order, unique("order")).is(t, http.StatusCreated)
	return c.pay(t.Context(), order, unique("pay"), payToken).attempt(t, http.StatusCreated)
}

func (s *demoShop) customer() client { return client{base: s.base, token: token("u1", "customer")} }
