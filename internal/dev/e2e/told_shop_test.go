package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/inbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

const stockistSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// stockist is a shop that takes a piece out of its stock for each paid order, and counts refunds. Of ten deliveries three fail:
// before it acts, after it, or by a connection that breaks after it.
type stockist struct {
	url   string
	db    *pgxpool.Pool
	acted atomic.Int64
	// wrong reports a delivery that breaks the contract.
	wrong func(error)

	mu       sync.Mutex
	bodies   map[string][sha256.Size]byte
	versions map[string]int
}

func newStockist(t *testing.T, pieces int) *stockist {
	t.Helper()
	db, err := pgxpool.New(t.Context(), testdb.New(t))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	for _, statement := range []string{inbox.Schema, "CREATE TABLE stock (pieces bigint, refunded bigint)"} {
		_, err := db.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), "INSERT INTO stock VALUES ($1, 0)", pieces+1)
	require.NoError(t, err)
	s := &stockist{db: db, wrong: func(err error) { t.Error(err) }, bodies: map[string][sha256.Size]byte{}, versions: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.take(r); err != nil {
			s.wrong(err)
		}
		s.answer(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// endpoint is the configuration of an endpoint that tries again soon, and often.
func (s *stockist) endpoint(name, url string) string {
	schedule := strings.TrimSuffix(strings.Repeat(`"200ms",`, 40), ",")
	return fmt.Sprintf(`{"name":%q,"url":%q,"secrets":[%q],"allow_private":true,"schedule":[%s]}`, name, url, stockistSecret, schedule)
}

// take acts on a delivery, unless it fails before that.
func (s *stockist) take(r *http.Request) error {
	if rand.N(10) == 0 {
		r.Header.Set("Fate", "before")
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil //nolint:nilerr // the sender was killed
	}
	e, err := goclient.ParseEvent([]string{stockistSecret}, r.Header, body)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if err := s.note(e, sha256.Sum256(body)); err != nil {
		return err
	}
	ctx := context.WithoutCancel(r.Context()) // the sender may be killed: work that has begun goes on
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		done, err := inbox.Once(ctx, tx, e.ID, func(ctx context.Context) error { return s.act(ctx, tx, e) })
		if done {
			s.acted.Add(1)
		}
		return err
	})
}

// note requires that an id has always the same body, and that versions of a subject come in order where they come for
// the first time.
func (s *stockist) note(e goclient.Event, body [sha256.Size]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, again := s.bodies[e.ID]; again {
		if was != body {
			return fmt.Errorf("event %s came with another body", e.ID)
		}
		return nil
	}
	if e.Version <= s.versions[e.Subject] {
		return fmt.Errorf("version %d of %s came after %d", e.Version, e.Subject, s.versions[e.Subject])
	}
	s.bodies[e.ID], s.versions[e.Subject] = body, e.Version
	return nil
}

func (s *stockist) act(ctx context.Context, tx pgx.Tx, e goclient.Event) error {
	var err error
	switch e.Type {
	case "order.paid":
		_, err = tx.Exec(ctx, "UPDATE stock SET pieces = pieces - 1")
	case "refund.succeeded":
		var refund struct {
			Amount int64 `json:"amount"`
		}
		if err = json.Unmarshal(e.Data, &refund); err == nil {
			_, err = tx.Exec(ctx, "UPDATE stock SET refunded = refunded + $1", refund.Amount)
		}
	}
	return err
}

// answer fails for two in nine of the processed deliveries.
func (s *stockist) answer(w http.ResponseWriter, r *http.Request) {
	fate := rand.N(9)
	switch {
	case r.Header.Get("Fate") == "before":
		w.WriteHeader(http.StatusServiceUnavailable)
	case fate == 0:
		w.WriteHeader(http.StatusInternalServerError)
	case fate == 1:
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// isRight requires that each event was acted on, once.
func (s *stockist) isRight(t *testing.T, attempts int, events []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.bodies, len(events))
	for _, id := range events {
		if _, came := s.bodies[id]; !came { // require.Contains would look through all of them each time
			require.Fail(t, "event "+id+" has not come")
		}
	}
	var pieces, refunded int
	require.NoError(t, s.db.QueryRow(t.Context(), "SELECT pieces, refunded FROM stock").Scan(&pieces, &refunded))
	require.Equal(t, 1, pieces)
	require.Equal(t, attempts*(200+300), refunded)
}

// hanging is an endpoint that never answers.
func hanging(t *testing.T) string {
	t.Helper()
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	return server.URL
}
