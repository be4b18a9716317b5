package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// shelf keeps a backup of a PostgreSQL: the copy of its files while it did not run.
type shelf struct {
	*devpg.Server

	copy string
}

func backUp(t *testing.T, pg *devpg.Server) shelf {
	t.Helper()
	require.NoError(t, pg.Stop())
	s := shelf{copy: pg.Dir() + ".backup"}
	t.Cleanup(func() { _ = os.RemoveAll(s.copy) })
	copyFiles(t, pg.Dir(), s.copy)
	s.Server = revive(t, pg)
	return s
}

// restore loses the disk and puts the backup in its place.
func (s shelf) restore(t *testing.T) {
	t.Helper()
	crash(t, s.Server)
	require.NoError(t, os.RemoveAll(s.Dir()))
	copyFiles(t, s.copy, s.Dir())
	revive(t, s.Server)
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, string(out))
}

// refundFive requests a refund of 5.00 as the shop's backend, which believes that all of the payment is left.
func (c client) refundFive(ctx context.Context, attempt string) answer {
	return c.backend().send(ctx, http.MethodPost, "/v1/payment-attempts/"+attempt+"/refunds", `{"amount":500,"expected_refundable":1999}`,
		"Idempotency-Key: "+unique("refund"))
}

// TestRestoredDatabaseChargesNoOrderTwice puts yesterday's backup in the place of the database, under the process that goes on
// and before a process that starts anew. Payments since the backup are lost in it; customers and the shop go on pressing. No
// order is charged twice, no refund is made twice, and the lost payments are found again.
func TestRestoredDatabaseChargesNoOrderTwice(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"the process goes on": false, "the process starts anew": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := testdb.Private(t)
			r := newRigOn(t, pg.DSN("postgres"))
			kept := "PAYLATCH_DATA_DIR=" + t.TempDir()
			s := r.serve(kept)
			c, patient := s.bluntly(token("u1", "customer")), s.customer()
			early, late := patient.order(t), patient.order(t)
			old := patient.pay(t.Context(), early, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
			before := one[int64](t, r, "SELECT mark FROM service_marks")

			backup := backUp(t, pg)
			r.db.Reset()
			fresh := unique("o")
			eventually(t, "an order after the backup", func() bool {
				return c.createOrder(t.Context(), fresh, "create-"+fresh).status == http.StatusCreated
			})
			lost := []string{
				patient.pay(t.Context(), late, unique("pay"), "tok_success").attempt(t, http.StatusCreated).ID,
				patient.pay(t.Context(), fresh, unique("pay"), "tok_success").attempt(t, http.StatusCreated).ID,
			}
			patient.refundFive(t.Context(), old.ID).is(t, http.StatusCreated)
			eventually(t, "the mark to rise", func() bool { return one[int64](t, r, "SELECT mark FROM service_marks") > before+1 })
			moved := len(r.movements(t))

			backup.restore(t)
			r.db.Reset()
			if again {
				s.kill()
				s = r.serve(kept)
				c, patient = s.bluntly(token("u1", "customer")), s.customer()
			}
			r.pressOn(t, c, late, fresh, old.ID)

			require.Len(t, r.movements(t), moved, "what was moved since")
			require.Equal(t, []string{"succeeded", "succeeded"}, column[string](t, r, "SELECT status::text FROM payment_attempts WHERE attempt_id = ANY ($1::uuid[])", lost))
			require.Equal(t, "succeeded", patient.read(t.Context(), lost[0]).attempt(t, http.StatusOK).Status)
			require.Contains(t, string(patient.read(t.Context(), old.ID).text), `"amount_refunded":500`)
			require.Equal(t, []string{"unknown_here", "unknown_here"}, column[string](t, r, "SELECT kind FROM discrepancies"), "the shop may have missed their events")
			require.Equal(t, 1, one[int](t, r, "SELECT count(*) FROM pay_holds WHERE account = 'sandbox' AND released_at IS NOT NULL"))
			r.verifies(t)
		})
	}
}

// pressOn has customers and the shop go on, from the first moment on, until both orders and the refund are refused for good.
func (r *rig) pressOn(t *testing.T, c client, late, fresh, old string) {
	t.Helper()
	presses := []func() answer{
		func() answer { return c.pay(t.Context(), late, unique("pay"), "tok_success") },
		func() answer {
			if made := c.createOrder(t.Context(), fresh, "again-"+fresh); made.status != http.StatusCreated {
				return made
			}
			return c.pay(t.Context(), fresh, unique("pay"), "tok_success")
		},
		func() answer { return c.refundFive(t.Context(), old) },
	}
	final := []string{"order-already-paid", "order-exists", "refundable-changed"}
	var all sync.WaitGroup
	failed := make(chan string, len(presses))
	for _, press := range presses {
		all.Go(func() {
			for {
				switch a := press(); {
				case a.err != nil, a.status == http.StatusServiceUnavailable:
				case slices.Contains(final, a.peekProblem().Code):
					return
				default:
					failed <- fmt.Sprintf("%d %s", a.status, a.text)
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for what := range failed {
		t.Error(what)
	}
}

// TestFeedAfterARestore puts a backup in the place of the database under a reader of the feed, and lets the feed come past the
// reader's cursor again. The reader is told from where to go on, and misses no event. A shop that reads as the manual has it delivers
// each order once, although customers pay the forgotten orders anew.
func TestFeedAfterARestore(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	s := r.serve("PAYLATCH_DATA_DIR=" + t.TempDir())
	c, shop := s.bluntly(token("u1", "customer")), s.bluntly(token("stock", "service"))
	var orders []string
	pays := func(order string) {
		orders = append(orders, order)
		eventually(t, "a pay", func() bool {
			if c.createOrder(t.Context(), order, "create-"+order).peekProblem().Code == "order-exists" {
				return true // the books had a payment of it
			}
			a := c.pay(t.Context(), order, unique("pay"), "tok_success")
			return a.status == http.StatusCreated || a.status != 0 && a.peekProblem().Code == "order-already-paid"
		})
	}
	feed, err := goclient.New(s.base, shop.token, goclient.Options{})
	require.NoError(t, err)
	// reads returns the events after a cursor, by id, as soon as there are so many, and the cursor behind them.
	reads := func(after string, least int) (told map[string]string, next string) {
		eventually(t, "the events", func() bool {
			told, next = map[string]string{}, after
			for e, err := range feed.Events(t.Context(), after, goclient.Feed{Wait: -1}) {
				if err != nil {
					return false
				}
				told[e.ID], next = e.Type+" "+e.Subject, e.Cursor
			}
			return len(told) >= least
		})
		return told, next
	}
	pays(unique("o"))
	kept, _ := reads("", 2)
	before := one[int64](t, r, "SELECT mark FROM service_marks")
	backup := backUp(t, pg)
	r.db.Reset()
	for range 3 {
		pays(unique("o"))
	}
	seen, cursor := reads("", 8)
	deliveries := &deliveries{feed: feed, ids: map[string]bool{}, versions: map[string]int{}, of: map[string]int{}}
	deliveries.read(t, orders)
	require.Regexp(t, `^\d+$`, cursor, "a database that was never restored has cursors as ever")
	eventually(t, "the mark to rise", func() bool { return one[int64](t, r, "SELECT mark FROM service_marks") > before+1 })

	backup.restore(t)
	r.db.Reset()
	goesOn := func() (restart string) {
		var refused answer
		eventually(t, "an answer to the reader", func() bool {
			refused = shop.send(t.Context(), http.MethodGet, "/v1/events?after="+cursor, "")
			return refused.err == nil && refused.status != http.StatusServiceUnavailable
		})
		require.Equal(t, http.StatusGone, refused.status, string(refused.text))
		var p struct {
			Code    string `json:"code"`
			Restart string `json:"restart_after"`
		}
		require.NoError(t, json.Unmarshal(refused.text, &p))
		require.Equal(t, "cursor-expired", p.Code)
		return p.Restart
	}
	restart := goesOn()
	require.Regexp(t, `^[0-9a-z]+-\d+$`, restart)
	for range 4 {
		pays(unique("o"))
	}
	for _, order := range orders[1:4] {
		pays(order)
	}
	all, next := reads("", 10)
	require.True(t, one[bool](t, r, "SELECT last > $1::bigint FROM outbox_head", cursor), "the old cursor is within the feed again")
	require.Equal(t, restart, goesOn(), "and is refused as before")
	require.Regexp(t, `^[0-9a-z]+-\d+$`, next)
	after, _ := reads(cursor, 1) // the client goes on by itself
	for id, what := range all {
		_, old := kept[id]
		_, told := seen[id]
		require.Equal(t, old, told, "%s %s: an event of after the restore has an id of its own", id, what)
		require.True(t, told || after[id] == what, "%s %s is missed", id, what)
	}
	deliveries.read(t, orders)
	for order, times := range deliveries.of {
		require.Equal(t, 1, times, "order %s is delivered once", order)
	}
}
