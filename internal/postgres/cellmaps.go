package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// CellMapStore keeps the number of a database and the maps of order ids under which it serves. It is safe for concurrent use.
type CellMapStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// CellMaps returns the store of the number and the maps of the database, on the same connections.
func (s *Store) CellMaps() *CellMapStore { return &CellMapStore{s.pool, s.q} }

// InCell makes the store unavailable while its database has the number of another cell. It must be called before the store is used.
func (s *Store) InCell(n payment.Cell) {
	s.pool.Suits(func(ctx context.Context, c *pgxpool.Conn) error {
		maps, err := s.q.CellMapsOpen(ctx, c)
		if err != nil {
			return fmt.Errorf("read the number of the cell: %w", err)
		}
		for _, m := range maps {
			if is := payment.Cell(m.Number); is != n { //nolint:gosec // by its constraint
				return payment.OtherCell(is, n)
			}
		}
		return nil
	})
}

// ReadMaps implements cells.Maps.
func (s *CellMapStore) ReadMaps(ctx context.Context) (list []payment.CellEpoch, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.CellMapsRead(ctx, c)
		if err != nil {
			return fmt.Errorf("read the maps of cells: %w", err)
		}
		list = make([]payment.CellEpoch, len(rows))
		for i, r := range rows {
			list[i] = payment.CellEpoch{Epoch: r.Epoch, Number: payment.Cell(r.Number), Open: r.Open} //nolint:gosec // by its constraint
			if list[i].Map, err = cellMap(r.Prefixes); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func cellMap(text []byte) (m payment.CellMap, err error) {
	if err = json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read a map of cells: %w", err)
	}
	return m, nil
}

// OpenMap implements cells.Maps.
func (s *CellMapStore) OpenMap(ctx context.Context, e payment.CellEpoch) (opened bool, err error) {
	prefixes, err := json.Marshal(e.Map)
	if err != nil {
		return false, fmt.Errorf("write a map of cells: %w", err)
	}
	err = s.change(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.CellMapInsert(ctx, tx, &dbsqlc.CellMapInsertParams{Epoch: e.Epoch, Number: int32(e.Number), Prefixes: prefixes})
		opened = n > 0
		return err
	})
	return opened, err
}

// CloseMaps implements cells.Maps.
func (s *CellMapStore) CloseMaps(ctx context.Context, before int64) error {
	return s.change(ctx, func(ctx context.Context, tx *pipeline.Tx) error { return s.q.CellMapsClose(ctx, tx, before) })
}

// WithdrawMap implements cells.Maps.
func (s *CellMapStore) WithdrawMap(ctx context.Context, epoch int64) error {
	return s.change(ctx, func(ctx context.Context, tx *pipeline.Tx) error { return s.q.CellMapDelete(ctx, tx, epoch) })
}

// change changes the maps while no order is created.
func (s *CellMapStore) change(ctx context.Context, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.CellMapLock(ctx, tx); err != nil {
			return fmt.Errorf("change the map of cells: %w", err)
		}
		if err := fn(ctx, tx); err != nil {
			return fmt.Errorf("change the map of cells: %w", err)
		}
		return nil
	})
}

// OrderElsewhere implements cells.Maps.
func (s *CellMapStore) OrderElsewhere(ctx context.Context, n payment.Cell, m payment.CellMap) (id payment.OrderID, found bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		for _, r := range m.Elsewhere(n) {
			there, err := s.q.OrderInRange(ctx, c, &dbsqlc.OrderInRangeParams{Low: r.Low, High: r.High})
			switch {
			case err == nil:
				id, found = payment.OrderID(there), true
				return nil
			case !errors.Is(err, pgx.ErrNoRows):
				return fmt.Errorf("look for orders of other cells: %w", err)
			}
		}
		return nil
	})
	return id, found, err
}

// OwnElsewhere implements cells.Maps.
func (s *CellMapStore) OwnElsewhere(ctx context.Context, n payment.Cell, m payment.CellMap) (id payment.OrderID, found bool, err error) {
	here, elsewhere := m.Own(n)
	of := &dbsqlc.OrderOwnParams{Among: n == payment.OnlyCell, Groups: groups(here)}
	if of.Among {
		of.Groups = groups(elsewhere)
	}
	if of.Among && len(of.Groups) == 0 {
		return "", false, nil
	}
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		there, err := s.q.OrderOwn(ctx, c, of)
		switch {
		case err == nil:
			id, found = payment.OrderID(there), true
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("look for orders of other cells: %w", err)
		}
		return nil
	})
	return id, found, err
}

// groups lists the third groups of digits that the ids of cells have.
func groups(list []payment.Cell) []string {
	texts := []string{}
	for _, n := range list {
		for fraction := range payment.Cell(4) {
			texts = append(texts, fmt.Sprintf("7%03x", n<<2|fraction))
		}
	}
	return texts
}

// CellOfAttempts implements cells.Maps.
func (s *CellMapStore) CellOfAttempts(ctx context.Context, want payment.Cell) (n payment.Cell, err error) {
	n = want
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		ids, err := s.q.AttemptsAtEnds(ctx, c)
		if err != nil {
			return fmt.Errorf("read the cell of stored attempts: %w", err)
		}
		for _, id := range ids {
			if of := payment.CellOf(id); of != want {
				n = of
			}
		}
		return nil
	})
	return n, err
}

// leadsHere returns an error if an open map leads one of the orders to another cell. The caller has locked the map by
// CellMapShare, so no map opens until the caller's transaction ends.
func leadsHere(maps []*dbsqlc.CellMapsOpenRow, ids ...payment.OrderID) error {
	for _, row := range maps {
		m, err := cellMap(row.Prefixes)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if n := m.Of(id); n != payment.Cell(row.Number) { //nolint:gosec // by its constraint
				return fmt.Errorf("%w: order %s is not created in cell %d: map %d of the database leads it to cell %d; "+
					"a process with another map must be restarted with the configuration of now", payment.ErrUnavailable, id, row.Number, row.Epoch, n)
			}
		}
	}
	return nil
}
