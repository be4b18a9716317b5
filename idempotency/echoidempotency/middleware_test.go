package echoidempotency_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/echoidempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// server is an echo server. Its commands count their effects in a table.
type server struct {
	*echo.Echo

	db    *pgxpool.Pool
	store *pgxstore.Store
}

func newServer(t *testing.T) *server {
	t.Helper()
	db, err := pgxpool.New(t.Context(), testdb.New(t))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	_, err = db.Exec(t.Context(), pgxstore.Schema+`CREATE TABLE effects (n int); INSERT INTO effects VALUES (0)`)
	require.NoError(t, err)
	return &server{echo.New(), db, pgxstore.New(db, pgxstore.Options{})}
}

func (s *server) options() echoidempotency.Options {
	return echoidempotency.Options{
		Guard: &idempotency.Guard{Store: s.store, Wait: 5 * time.Minute},
		User: func(c echo.Context) (string, error) {
			if user := c.Request().Header.Get("X-User"); user != "" {
				return user, nil
			}
			return "", echo.ErrUnauthorized
		},
	}
}

// act is a handler that counts, and then answers.
func act(answer echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		if _, err := pgxstore.TxOf(ctx).Exec(ctx, `UPDATE effects SET n = n + 1`); err != nil {
			return err
		}
		return answer(c)
	}
}

func made(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderLocation, "/things/1")
	c.SetCookie(&http.Cookie{Name: "session", Value: "secret"})
	return c.JSON(http.StatusCreated, map[string]string{"id": "1"})
}

func (s *server) effects(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT n FROM effects`).Scan(&n))
	return n
}

func (s *server) post(path, key, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-User", "ann")
	if key != "" {
		r.Header.Set(idempotency.HeaderKey, key)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// code is the code of a problem, with its status.
func code(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	require.Equal(t, "application/problem+json", w.Header().Get(echo.HeaderContentType))
	var p struct {
		Code      string `json:"code"`
		Status    int    `json:"status"`
		Retryable bool   `json:"retryable"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	require.Equal(t, w.Code, p.Status)
	require.Equal(t, w.Header().Get(echo.HeaderRetryAfter) != "", p.Retryable)
	return fmt.Sprint(p.Status, " ", p.Code)
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.POST("/things/:kind", act(made), echoidempotency.New(s.options()))
	first := s.post("/things/a", "key-00000001", `{"a":1,"b":2}`)
	require.Equal(t, http.StatusCreated, first.Code)
	require.Equal(t, "created", first.Header().Get(idempotency.HeaderResult))
	require.Empty(t, first.Header().Get(idempotency.HeaderReplayed))
	require.Equal(t, "key-00000001", first.Header().Get(idempotency.HeaderKey))

	again := s.post("/things/a", `"key-00000001"`, `{ "b": 2, "a": 1 }`)
	require.Equal(t, http.StatusCreated, again.Code)
	require.Equal(t, first.Body.String(), again.Body.String())
	require.Equal(t, "reused", again.Header().Get(idempotency.HeaderResult))
	require.Equal(t, "true", again.Header().Get(idempotency.HeaderReplayed))
	require.Equal(t, "/things/1", again.Header().Get(echo.HeaderLocation))
	require.Equal(t, first.Header().Get(echo.HeaderContentType), again.Header().Get(echo.HeaderContentType))
	require.Empty(t, again.Header().Values("Set-Cookie"))
	require.Equal(t, 1, s.effects(t))

	require.Equal(t, "409 idempotency-key-reused", code(t, s.post("/things/a", "key-00000001", `{"a":2}`)))
	require.Equal(t, http.StatusCreated, s.post("/things/b", "key-00000001", `{"a":2}`).Code, "of another thing it is another key")
	require.Equal(t, 2, s.effects(t))
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := s.options()
	o.MaxRequest = 10
	s.POST("/things", act(made), echoidempotency.New(o))
	require.Equal(t, "400 idempotency-key-missing", code(t, s.post("/things", "", `{}`)))
	require.Equal(t, "400 idempotency-key-invalid", code(t, s.post("/things", "short", `{}`)))
	require.Equal(t, "400 idempotency-key-in-query", code(t, s.post("/things?idempotency_key=key-00000001", "key-00000001", `{}`)))
	require.Equal(t, http.StatusRequestEntityTooLarge, s.post("/things", "key-00000001", `{"a":"long"}`).Code)
	r := httptest.NewRequest(http.MethodPost, "/things", nil)
	r.Header.Set(idempotency.HeaderKey, "key-00000001")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Zero(t, s.effects(t))
}

// A refused command leaves no effect. The kind of the refusal decides whether its key is used.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer echo.HandlerFunc
		status int
		used   bool
	}{
		"executed":  {func(c echo.Context) error { return c.String(http.StatusConflict, "sold out") }, 409, true},
		"an error":  {func(echo.Context) error { return echo.NewHTTPError(http.StatusNotFound, "no such thing") }, 404, true},
		"a form":    {func(c echo.Context) error { return c.String(http.StatusUnprocessableEntity, "no") }, 422, false},
		"no right":  {func(echo.Context) error { return echo.ErrForbidden }, 403, false},
		"a failure": {func(echo.Context) error { return errors.New("broken") }, 500, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			refuses := true
			s.POST("/things", act(func(ctx echo.Context) error {
				if refuses {
					return c.answer(ctx)
				}
				return made(ctx)
			}), echoidempotency.New(s.options()))
			first := s.post("/things", "key-00000001", `{}`)
			require.Equal(t, c.status, first.Code)
			require.Empty(t, first.Header().Get(idempotency.HeaderResult), "it created nothing")
			require.Zero(t, s.effects(t), "undone")
			refuses = false
			again := s.post("/things", "key-00000001", `{}`)
			if c.used {
				require.Equal(t, c.status, again.Code)
				require.Equal(t, first.Body.String(), again.Body.String())
				require.Equal(t, "reused", again.Header().Get(idempotency.HeaderResult))
				require.Zero(t, s.effects(t))
				return
			}
			require.Equal(t, http.StatusCreated, again.Code)
			require.Equal(t, 1, s.effects(t))
		})
	}
}

// 200 copies at once, to two processes: one effect, one response.
func TestManyAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.POST("/here", act(made), echoidempotency.New(s.options()))
	elsewhere := &server{echo.New(), s.db, s.store}
	elsewhere.POST("/here", act(made), echoidempotency.New(elsewhere.options()))
	var all sync.WaitGroup
	barrier := make(chan struct{})
	responses := make([]*httptest.ResponseRecorder, 200)
	for i := range responses {
		all.Go(func() {
			<-barrier
			responses[i] = []*server{s, elsewhere}[i%2].post("/here", "key-00000001", `{}`)
		})
	}
	close(barrier)
	all.Wait()
	created := 0
	for _, w := range responses {
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, responses[0].Body.String(), w.Body.String())
		if w.Header().Get(idempotency.HeaderResult) == "created" {
			created++
		}
	}
	require.Equal(t, 1, created)
	require.Equal(t, 1, s.effects(t))
}

func TestInProgress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := s.options()
	o.Guard.Wait = 10 * time.Millisecond
	began, finish := make(chan struct{}), make(chan struct{})
	s.POST("/things", act(func(c echo.Context) error {
		close(began)
		<-finish
		return made(c)
	}), echoidempotency.New(o))
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- s.post("/things", "key-00000001", `{}`) }()
	<-began
	require.Equal(t, "409 request-in-progress", code(t, s.post("/things", "key-00000001", `{}`)))
	close(finish)
	require.Equal(t, http.StatusCreated, (<-first).Code)
	require.Equal(t, "reused", s.post("/things", "key-00000001", `{}`).Header().Get(idempotency.HeaderResult))
	require.Equal(t, 1, s.effects(t))
}

// A handler that calls other services runs between two transactions, and learns of an earlier run that died.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := s.options()
	o.Calls = true
	var over []bool
	s.POST("/things", func(c echo.Context) error {
		over = append(over, echoidempotency.TakenOver(c))
		require.Panics(t, func() { pgxstore.TxOf(c.Request().Context()) })
		return made(c)
	}, echoidempotency.New(o))
	require.Equal(t, http.StatusCreated, s.post("/things", "key-00000001", `{}`).Code)
	require.Equal(t, "reused", s.post("/things", "key-00000001", `{}`).Header().Get(idempotency.HeaderResult))
	require.Equal(t, []bool{false}, over)

	_, err := s.db.Exec(t.Context(), `UPDATE idempotency_keys SET answered = false, status = 0, body = NULL, lease_until = now()`)
	require.NoError(t, err, "as a process that died leaves it")
	require.Equal(t, "created", s.post("/things", "key-00000001", `{}`).Header().Get(idempotency.HeaderResult))
	require.Equal(t, []bool{false, true}, over)
}

func TestALargeResponse(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.POST("/things", act(func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderLocation, "/things/1")
		return c.Blob(http.StatusCreated, "text/plain", make([]byte, idempotency.MaxBody+1))
	}), echoidempotency.New(s.options()))
	require.Len(t, s.post("/things", "key-00000001", `{}`).Body.Bytes(), idempotency.MaxBody+1)
	again := s.post("/things", "key-00000001", `{}`)
	require.Equal(t, http.StatusCreated, again.Code)
	require.Equal(t, "/things/1", again.Header().Get(echo.HeaderLocation))
	require.Empty(t, again.Body.Bytes())
}

func TestNewWithoutAUser(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { echoidempotency.New(echoidempotency.Options{Guard: &idempotency.Guard{}}) })
}
