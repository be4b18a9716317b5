package console

import (
	"context"

	"github.com/paylatch/paylatch/internal/platform/throttle"
)

const (
	// searchesEach a second, and as many at once, are more than a person types.
	searchesEach   = 5
	searchesAtOnce = 50
)

// console is the state that all visits share.
type console struct {
	Options
	searches *throttle.KeyedLimiter
}

// visit is one request in a session, with the use cases that pages call.
type visit struct {
	*Visit
	*console
}

// warned is a frame that warns of stale accounts: their payments may be out of date.
func (v *visit) warned(title string) (Frame, error) {
	accounts, err := v.Payments.Stale(v.R.Context())
	err = v.Left(err)
	f := v.Frame(title)
	for _, q := range accounts {
		f.Stale = append(f.Stale, stale(q, v.Now()))
	}
	return f, err
}

// worklist returns the options of the worklist's pages.
func (c *console) worklist() WorklistOptions {
	return WorklistOptions{
		Worklist: c.Worklist, Provider: c.Provider, Clocks: c.Clocks, Dashboard: c.Dashboard,
		Frame: func(v *Visit, title string) (Frame, error) { return (&visit{v, c}).warned(title) },
		Foreign: func(ctx context.Context) ([]string, error) {
			counts, err := c.Payments.ForeignLastDay(ctx)
			return foreign(counts), err
		},
	}
}

func (v *visit) showNothing() error { return ErrNoPage }
