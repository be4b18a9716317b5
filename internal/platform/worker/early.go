package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

const earlyEvery = 500 * time.Millisecond

// Early retries unsigned notices.
type Early interface {
	RetryEarly(ctx context.Context) (questions []func(context.Context) error, err error)
}

// RetryEarly applies unsigned notices whose payments exist by now, and looks up the other notices at their providers.
func RetryEarly(e Early) Loop {
	return Loop{Name: "early", Every: earlyEvery, Do: func(ctx context.Context) (bool, error) {
		questions, err := e.RetryEarly(ctx)
		errs := make([]error, len(questions))
		var asking sync.WaitGroup
		for i, ask := range questions {
			asking.Go(func() { errs[i] = caught(func() error { return ask(ctx) }) })
		}
		asking.Wait()
		return false, errors.Join(err, errors.Join(errs...))
	}}
}
