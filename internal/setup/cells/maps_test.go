package cells_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/cells"
)

// databases are new databases of the cells 0 to n-1.
func databases(t *testing.T, n payment.Cell) (stores []*postgres.Store, all []cells.Database) {
	t.Helper()
	for i := range n {
		store, err := postgres.Open(t.Context(), testdb.New(t))
		require.NoError(t, err)
		t.Cleanup(store.Close)
		stores, all = append(stores, store), append(all, cells.Database{Number: i, Maps: store.CellMaps()})
	}
	return stores, all
}

func create(ctx context.Context, s *postgres.Store, id string) (inserted bool, err error) {
	err = s.InCommandTx(ctx, func(ctx context.Context, tx commands.Tx) error {
		inserted, err = tx.OrderInsert(ctx, payment.Order{
			ID: payment.OrderID(id), UserID: "u1", CreatedBy: payment.RoleService, RequestID: payment.RequestID("of-" + id), RequestHash: idempotency.Hash{1},
			Money: payment.Money{Minor: 1, Currency: "EUR"}, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		})
		return err
	})
	return inserted && err == nil, err
}

func created(t *testing.T, s *postgres.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		inserted, err := create(t.Context(), s, id)
		require.NoError(t, err)
		require.True(t, inserted)
	}
}

// refuses requires a CellMapError with a text.
func refuses(t *testing.T, err error, text string) {
	t.Helper()
	require.ErrorAs(t, err, new(*payment.CellMapError))
	require.ErrorContains(t, err, text)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	_, all := databases(t, 2)
	m := payment.CellMap{"eu-": 1}
	for range 2 {
		for _, d := range all {
			require.NoError(t, cells.Compare(t.Context(), d, m))
		}
	}
	for name, c := range map[string]struct {
		d    cells.Database
		m    payment.CellMap
		text string
	}{
		"swapped":             {cells.Database{Number: 0, Maps: all[1].Maps}, m, "the configured database of cell 0 is the database of cell 1"},
		"swapped, the other":  {cells.Database{Number: 1, Maps: all[0].Maps}, m, "the configured database of cell 1 is the database of cell 0"},
		"doubled":             {cells.Database{Number: 2, Maps: all[1].Maps}, m, "the configured database of cell 2 is the database of cell 1"},
		"a prefix more":       {all[0], payment.CellMap{"eu-": 1, "us-": 1}, "run `paylatch migrate up` with it"},
		"a prefix less":       {all[1], payment.CellMap{}, "has another map of cells, epoch 1 (eu- to cell 1, all other orders to cell 0); the configuration assigns all orders to cell 0"},
		"a prefix from other": {all[1], payment.CellMap{"eu-": 2}, "has another map of cells"},
	} {
		refuses(t, cells.Compare(t.Context(), c.d, c.m), c.text)
		refuses(t, cells.Examine(t.Context(), c.d, c.m), c.text)
		require.NotEmpty(t, name)
	}
	require.NoError(t, cells.Examine(t.Context(), all[1], m))
}

// TestCompareOrders refuses a map that leads a stored order elsewhere, also before a database has a number.
func TestCompareOrders(t *testing.T) {
	t.Parallel()
	stores, all := databases(t, 2)
	created(t, stores[0], "eu-7", "a")
	created(t, stores[1], "b")
	m := payment.CellMap{"eu-": 1}
	refuses(t, cells.Examine(t.Context(), all[0], m), "order eu-7 is stored in cell 0, but the configuration assigns it to cell 1")
	require.NoError(t, cells.Examine(t.Context(), all[0], payment.CellMap{"us-": 1}))
	had, err := all[0].Maps.ReadMaps(t.Context())
	require.NoError(t, err)
	require.Empty(t, had, "to examine a database does not claim it")
	for range 2 {
		refuses(t, cells.Compare(t.Context(), all[0], m), "order eu-7 is stored in cell 0, but the configuration assigns it to cell 1")
		refuses(t, cells.Compare(t.Context(), all[1], m), "order b is stored in cell 1, but the configuration assigns it to cell 0")
	}
}

// TestChange changes the map of three cells, one of them new, and refuses changes that would put an order into two cells.
func TestChange(t *testing.T) {
	t.Parallel()
	stores, all := databases(t, 3)
	m1, m2 := payment.CellMap{"eu-": 1}, payment.CellMap{"eu-": 1, "us-": 2}
	change := func(n int, m payment.CellMap, back bool) error { return cells.Change(t.Context(), all[:n], m, back) }
	serves := func(n int, m payment.CellMap) {
		t.Helper()
		for _, d := range all[:n] {
			require.NoError(t, cells.Compare(t.Context(), d, m))
		}
	}
	require.NoError(t, change(2, m1, false))
	require.NoError(t, change(2, m1, false), "the same again")
	serves(2, m1)
	created(t, stores[0], "a", "us-1")
	created(t, stores[1], "eu-1")

	refuses(t, change(3, m2, false), "order us-1 is stored in cell 0, but the configuration assigns it to cell 2")
	serves(2, m1)
	created(t, stores[0], "us-2")
	refuses(t, change(2, payment.CellMap{}, true), "order eu-1 is stored in cell 1")
	refuses(t, change(1, payment.CellMap{}, true), "orders with the prefix eu- are in cell 1, which the configuration lacks")
	serves(2, m1)

	m3 := payment.CellMap{"eu-": 1, "us2-": 2}
	require.NoError(t, change(3, m3, false))
	serves(3, m3)
	created(t, stores[2], "us2-1")
	refuses(t, change(3, m1, false), "the configuration is older")
	refuses(t, change(3, m1, true), "order us2-1 is stored in cell 2")

	refuses(t, cells.Change(t.Context(), []cells.Database{all[0], {Number: 1, Maps: all[2].Maps}, {Number: 2, Maps: all[1].Maps}}, m3, true), "is the database of cell")
	m4 := payment.CellMap{"eu-": 1, "us2-": 2, "jp-": 2}
	require.NoError(t, change(3, m4, false))
	require.NoError(t, change(3, m3, true), "back, since no order has the prefix")
	serves(3, m3)
}

// TestChangeIsCompleted: a change that ended between two databases is completed by the next one, also by another map.
func TestChangeIsCompleted(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]payment.CellMap{"the same": {"x-": 1}, "the old": {}, "another": {"y-": 1}} {
		for reached := range 4 {
			t.Run(fmt.Sprint(name, reached), func(t *testing.T) {
				t.Parallel()
				stores, all := databases(t, 2)
				require.NoError(t, cells.Change(t.Context(), all, payment.CellMap{}, false))
				e := payment.CellEpoch{Epoch: 2, Map: payment.CellMap{"x-": 1}}
				steps := []func() error{
					func() error { _, err := all[0].Maps.OpenMap(t.Context(), e); return err },
					func() error { e.Number = 1; _, err := all[1].Maps.OpenMap(t.Context(), e); return err },
					func() error { return all[0].Maps.CloseMaps(t.Context(), 2) },
				}
				for _, step := range steps[:reached] {
					require.NoError(t, step())
				}
				if reached > 0 {
					_, err := create(t.Context(), stores[0], "x-1")
					require.ErrorIs(t, err, payment.ErrUnavailable)
				}
				require.NoError(t, cells.Change(t.Context(), all, next, true))
				for n, d := range all {
					require.NoError(t, cells.Compare(t.Context(), d, next))
					inserted, _ := create(t.Context(), stores[n], "x-2")
					require.Equal(t, int(next.Of("x-2")) == n, inserted)
				}
			})
		}
	}
}

// TestChangeOfOwnOrders: a shop may choose an id of the form that paylatch creates. A new cell whose number such an id has is refused;
// other ids of the prefix lead to cell 0.
func TestChangeOfOwnOrders(t *testing.T) {
	t.Parallel()
	stores, all := databases(t, 3)
	own := func(n payment.Cell) string { return payment.OwnOrderPrefix + n.NewID().String() }
	with := func(numbers ...payment.Cell) payment.CellMap {
		m := payment.CellMap{}
		for _, n := range numbers {
			m[payment.OwnOrders(n)] = n
		}
		return m
	}
	change := func(n int, m payment.CellMap) error { return cells.Change(t.Context(), all[:n], m, true) }
	require.NoError(t, change(1, with()))
	chosen, other := own(1), []string{
		payment.OwnOrderPrefix + uuid.NewString(), payment.OwnOrderPrefix + strings.ReplaceAll(own(2)[4:], "-", ""),
		payment.OwnOrderPrefix + "{" + own(2)[4:] + "}", payment.OwnOrderPrefix + strings.ToUpper(own(2)[4:]), "ord_7", own(0), own(3),
	}
	created(t, stores[0], append(other, chosen)...)
	refuses(t, change(2, with(1)), "order "+chosen+" is stored in cell 0, but the configuration assigns it to cell 1")
	require.NoError(t, cells.Change(t.Context(), []cells.Database{all[0], all[2]}, with(2), true))
	for _, id := range other {
		require.Equal(t, payment.OnlyCell, with(2).Of(payment.OrderID(id)), id)
		_, err := create(t.Context(), stores[2], id)
		require.ErrorIs(t, err, payment.ErrUnavailable, id)
	}
	id := own(2)
	_, err := create(t.Context(), stores[0], id)
	require.ErrorIs(t, err, payment.ErrUnavailable)
	created(t, stores[2], id)
	refuses(t, cells.Change(t.Context(), []cells.Database{all[0], all[2]}, with(), true), "order "+id+" is stored in cell 2")
	require.NoError(t, cells.Change(t.Context(), []cells.Database{all[0], all[2]}, payment.CellMap{payment.OwnOrders(2): 2, "eu-": 2}, true))
}

// hooked calls a function when the first database has a new map.
type hooked struct {
	cells.Maps

	opened func()
}

func (h hooked) OpenMap(ctx context.Context, e payment.CellEpoch) (bool, error) {
	defer h.opened()
	return h.Maps.OpenMap(ctx, e)
}

// TestNoOrderInTwoCells creates the same orders by processes with all maps from the oldest to the newest while the map changes. Orders
// of a new prefix come from shortly before the change, or from its middle.
func TestNoOrderInTwoCells(t *testing.T) {
	t.Parallel()
	const databasesOf, changes = 3, 12
	stores, all := databases(t, databasesOf)
	served := payment.CellMap{}
	var proposed atomic.Pointer[[]payment.CellMap]
	proposed.Store(&[]payment.CellMap{served})
	require.NoError(t, cells.Change(t.Context(), all, served, false))
	var mu sync.Mutex
	where := map[string]map[payment.Cell]bool{}
	var number, phase atomic.Int64
	attempt := func(id string) {
		for _, m := range *proposed.Load() { // each as a process with this map
			n := m.Of(payment.OrderID(id))
			inserted, err := create(context.WithoutCancel(t.Context()), stores[n], id)
			if err != nil && !errors.Is(err, payment.ErrUnavailable) {
				t.Error(err)
			}
			if inserted {
				mu.Lock()
				if where[id] == nil {
					where[id] = map[payment.Cell]bool{}
				}
				where[id][n] = true
				mu.Unlock()
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() {
			for ctx.Err() == nil {
				attempt(fmt.Sprintf("p%02d-%d", phase.Load(), number.Add(1)))
				attempt(payment.OwnOrderPrefix + payment.Cell(phase.Load()+1).NewID().String())
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(where)
	}
	plain, taken := all[0], 0
	for i := range changes {
		next := maps.Clone(served)
		next[fmt.Sprintf("p%02d-", i)] = payment.Cell(i%(databasesOf-1) + 1)
		next[payment.OwnOrders(payment.Cell(i+1))] = payment.Cell(i%(databasesOf-1) + 1)
		both := append(slices.Clone(*proposed.Load()), next)
		proposed.Store(&both)
		begin := func() { phase.Store(int64(i)) }
		if i%2 == 0 {
			begin()
		}
		all[0].Maps = hooked{plain.Maps, begin}
		err := cells.Change(t.Context(), all, next, false)
		for errors.Is(err, payment.ErrUnavailable) { // a database of a busy machine did not answer in time
			err = cells.Change(t.Context(), all, next, false)
		}
		if err == nil {
			taken, served = taken+1, next
		} else {
			require.ErrorAs(t, err, new(*payment.CellMapError), "an order of the prefix is in cell 0")
		}
		before := count()
		require.Eventually(t, func() bool { return count() > before+5 }, 5*time.Minute, time.Millisecond)
	}
	stop()
	load.Wait()
	t.Logf("%d orders, %d of %d changes taken", count(), taken, changes)
	require.Positive(t, taken)
	for id, in := range where {
		require.Len(t, in, 1, "%s: %v", id, in)
	}
}
