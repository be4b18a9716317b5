package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/sync/errgroup"
)

const (
	// crowdSize is how many duplicates of one slow pay wait.
	crowdSize = 1000
	// besideClients pay orders of their own meanwhile.
	besideClients = 4
)

// crowd measures the delay of other requests while a crowd of duplicates waits for one pay at a slow provider.
func (s *stage) crowd(ctx context.Context) error {
	if err := s.beside(ctx, ourIdle); err != nil {
		return err
	}
	order, err := s.ours.takeOrders(ctx, 1)
	if err != nil {
		return err
	}
	call, err := newCaller(s.server.address)
	if err != nil {
		return err
	}
	var waiting errgroup.Group
	asked, release := s.stub.hold()
	charged := s.stub.charges.Load()
	var t *tally
	waiting.Go(func() (err error) {
		t, err = closed(ctx, s.server.address, crowdSize, s.opts.window, repeat([]shot{call.slowPay(order)}, crowdSize))
		return err
	})
	<-asked
	err = s.beside(ctx, ourCrowd)
	close(release)
	if failed := waiting.Wait(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if n := t.count(http.StatusCreated, ""); n != crowdSize || t.count(http.StatusCreated, created) != 1 {
		return fmt.Errorf("%w: of %d duplicates %d were answered with the pay", errProof, crowdSize, n)
	}
	if s.stub.slow.Load() != 1 || s.stub.charges.Load() == charged {
		return fmt.Errorf("%w: the slow pay was charged %d times", errProof, s.stub.slow.Load())
	}
	s.stub.slow.Store(0)
	return nil
}

// beside measures pays of other users.
func (s *stage) beside(ctx context.Context, series string) error {
	budget := s.budget(series, besideClients, expectedPays(besideClients))
	base, err := s.ours.takeOrders(ctx, budget)
	if err != nil {
		return err
	}
	call, err := newCaller(s.server.address)
	if err != nil {
		return err
	}
	t, _, err := s.requests(ctx, series, besideClients, call.pays(base, budget))
	if err != nil {
		return err
	}
	if paid := t.count(http.StatusCreated, created); paid != t.sent() {
		return fmt.Errorf("%w: of %d pays %d were made", errProof, t.sent(), paid)
	}
	return nil
}

// slowPay is a pay that the stub answers when it is released.
func (c caller) slowPay(i int) shot {
	return shot{request(http.MethodPost, "/v1/orders/"+payOrder(i)+"/pay", c.host, `{"payment_method":{"token":"tok_slow"}}`,
		"Authorization", "Bearer "+c.token, "On-Behalf-Of", payUser(i), "Idempotency-Key", "bench-slow-"+strconv.Itoa(i)), i}
}
