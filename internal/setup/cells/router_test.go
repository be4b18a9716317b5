package cells_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// configured has cells 0, 1 and 7.
func configured() *config.Config {
	return &config.Config{
		Cells:    []config.Cell{{Number: 1, OrderPrefixes: []string{"eu-", "uk-"}}, {Number: 7, OrderPrefixes: []string{"us-"}}},
		Accounts: []config.Account{{Name: "home"}, {Name: "eu", Cell: 1}, {Name: "us", Cell: 7}},
	}
}

// naming is an API that responds with its cell and the request.
func naming(n string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cell", n)
		_, _ = w.Write([]byte(r.URL.RequestURI()))
	})
}

func router(o cells.Options) *cells.Router {
	c := configured()
	o.To = c
	if o.All == nil {
		o.All = naming("all")
	}
	if o.Cells == nil {
		o.Cells = []cells.Cell{{Number: 0, API: naming("0")}, {Number: 1, API: naming("1")}, {Number: 7, API: naming("7")}}
	}
	return cells.New(o)
}

func get(h http.Handler, method, target string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// getAs is get with a token, and with a header and its value.
func getAs(h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Authorization", "Bearer t")
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRequestsAreLedToTheirCell(t *testing.T) {
	t.Parallel()
	of := func(n payment.Cell) string { return n.NewID().String() }
	for target, want := range map[string]string{
		"/webhooks/home":                                   "0",
		"/webhooks/eu":                                     "1",
		"/webhooks/us":                                     "7",
		"/webhooks/us/":                                    "7",
		"/webhooks/us/pay":                                 "7",
		"/webhooks/us/pay/?a=1":                            "7",
		"/webhooks/unknown":                                "0",
		"/v1/orders":                                       "all",
		"/v1/orders/A-1":                                   "0",
		"/v1/orders/eu-1":                                  "1",
		"/v1/orders/uk-1/pay":                              "1",
		"/v1/orders/eu%2D1/pay":                            "1",
		"/v1/orders/us-/attempts":                          "7",
		"/v1/orders/eu":                                    "0",
		"/v1/orders/ord_" + of(7):                          "7",
		"/v1/orders/ord_" + of(3):                          "0",
		"/v1/orders/ord_x":                                 "0",
		"/v1/orders/" + of(7):                              "0",
		"/v1/payment-attempts/" + of(1):                    "1",
		"/v1/payment-attempts/" + of(7) + "/refunds":       "7",
		"/v1/payment-attempts/" + strings.ToUpper(of(7)):   "7",
		"/v1/payment-attempts/" + of(2):                    "0",
		"/v1/refunds/" + of(1):                             "1",
		"/v1/support/discrepancies/" + of(7) + "/comments": "7",
		"/support/attempts/" + of(1):                       "1",
		"/support/orders?id=eu-5":                          "1",
		"/support/payments":                                "all",
		"/v1/support/overview":                             "all",
		"/v1/support/overview?cell=7":                      "7",
		"/v1/support/discrepancies/resolve":                "all",
		"/v1/support/discrepancies/resolve?cell=1":         "1",
		"/v1/endpoints/shop/redeliver?cell=1":              "1",
		"/v1/payment-attempts/" + of(1) + "?cell=7":        "1",
		"/docs": "all",
		"/v1/payment-attempts/" + uuid.Nil.String() + "/pay": "0",
	} {
		got := get(router(cells.Options{}), http.MethodPost, target)
		require.Equal(t, want, got.Header().Get("Cell"), target)
	}
	require.Equal(t, "/v1/support/overview?x=1", get(router(cells.Options{}), http.MethodGet, "/v1/support/overview?cell=7&x=1").Body.String(),
		"the cell sees no parameter of the router's")
}

func TestAnUnknownCellIsRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"2", "-1", "x", "", "07", "all"} {
		got := getAs(router(cells.Options{}), "/v1/support/overview?cell="+n)
		require.Equal(t, http.StatusUnprocessableEntity, got.Code, n)
		require.Equal(t, "application/problem+json", got.Header().Get("Content-Type"))
		require.Contains(t, got.Body.String(), "must be the number of a cell: 0, 1, 7")
	}
}

// Whatever the router answers has the request's id, as the API's answers have it, and without a token it says nothing of
// the cells.
func TestRefusalsAreLikeTheAPIs(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/v1/support/overview?cell=9", "/v1/events?after=0:x", "/v1/events?cell=9", "/v1/events?cell=1&after=0:x"} {
		for id, want := range map[string]string{"mine-1": "mine-1", "a b": ""} {
			w := getAs(router(cells.Options{}), target, "X-Request-Id", id)
			require.Equal(t, http.StatusUnprocessableEntity, w.Code, target)
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), target)
			var p struct {
				RequestID string `json:"request_id"`
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
			require.NotEmpty(t, p.RequestID, target)
			require.Equal(t, p.RequestID, w.Header().Get("X-Request-Id"), target)
			if want != "" {
				require.Equal(t, want, p.RequestID)
			}
		}
		require.Equal(t, "0", get(router(cells.Options{}), http.MethodGet, target).Header().Get("Cell"), "the API refuses a caller without a token: %s", target)
	}
}

// A person in the console looks at all cells, or at one until another is chosen.
func TestTheConsoleKeepsItsCell(t *testing.T) {
	t.Parallel()
	for plain, name := range map[bool]string{true: "paylatch_cell", false: "__Secure-paylatch_cell"} {
		list := get(router(cells.Options{Plain: plain}), http.MethodGet, "/support?cell=1").Result().Cookies()
		require.Len(t, list, 1)
		require.Equal(t, name, list[0].Name)
		require.Equal(t, !plain, list[0].Secure)
	}
	r := router(cells.Options{})
	chosen := get(r, http.MethodGet, "/support/discrepancies?cell=1&state=open")
	require.Equal(t, http.StatusSeeOther, chosen.Code)
	require.Equal(t, "/support/discrepancies?state=open", chosen.Header().Get("Location"))
	require.Len(t, chosen.Result().Cookies(), 1)
	kept := chosen.Result().Cookies()[0]
	require.True(t, kept.HttpOnly)
	for target, want := range map[string]string{
		"/support":               "1",
		"/support/audit":         "1",
		"/support/orders?id=A-1": "0",
		"/support/sign-in":       "all",
		"/v1/support/audit":      "all",
	} {
		require.Equal(t, want, get(r, http.MethodGet, target, kept).Header().Get("Cell"), target)
	}
	require.Equal(t, "1", get(r, http.MethodPost, "/support/discrepancies/resolve", kept).Header().Get("Cell"))
	require.Equal(t, "all", get(r, http.MethodGet, "/support", &http.Cookie{Name: kept.Name, Value: "5"}).Header().Get("Cell"), "one that is gone")
	require.Equal(t, "all", get(r, http.MethodGet, "/support").Header().Get("Cell"), "a new session")
	for target, leads := range map[string]string{"/support/audit?cell=all&actor=ada": "/support/audit?actor=ada", "/support/sign-out": ""} {
		got := get(r, http.MethodGet, target, kept)
		require.Equal(t, leads, got.Header().Get("Location"), target)
		require.Len(t, got.Result().Cookies(), 1, target)
		require.Equal(t, kept.Name, got.Result().Cookies()[0].Name)
		require.Negative(t, got.Result().Cookies()[0].MaxAge, target)
	}
}

func TestReadyAsLongAsOneCellIs(t *testing.T) {
	t.Parallel()
	api := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
	up, down := api(http.StatusOK, `{"status":"ok","checks":{"database":"ok"}}`), api(http.StatusServiceUnavailable, `{"status":"unavailable","checks":{"database":"failed"}}`)
	for _, tt := range []struct {
		first, second http.Handler
		status        int
		checks        map[string]string
	}{
		{up, up, 200, map[string]string{"cell 0: database": "ok", "cell 1: database": "ok"}},
		{down, up, 200, map[string]string{"cell 0: database": "failed", "cell 1: database": "ok"}},
		{down, down, 503, map[string]string{"cell 0: database": "failed", "cell 1: database": "failed"}},
	} {
		r := router(cells.Options{Health: true, Cells: []cells.Cell{{Number: 0, API: tt.first}, {Number: 1, API: tt.second}}})
		got := get(r, http.MethodGet, "/readyz")
		require.Equal(t, tt.status, got.Code)
		var body struct {
			Status string            `json:"status"`
			Checks map[string]string `json:"checks"`
		}
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &body))
		require.Equal(t, tt.checks, body.Checks)
		require.Equal(t, map[int]string{200: "ok", 503: "unavailable"}[tt.status], body.Status)
	}
	require.Equal(t, "all", get(router(cells.Options{}), http.MethodGet, "/readyz").Header().Get("Cell"), "operations have an address of their own")
}
