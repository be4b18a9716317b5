package rejected

import (
	"context"
	"errors"
	"hash/fnv"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/throttle"
	"github.com/paylatch/paylatch/webhooks"
)

// waiting is a delivery that waits to be written.
type waiting struct {
	account, network string
	fingerprint      []byte
	delivery         webhooks.Delivery
	size             int
}

// Keep queues a delivery for the next Flush, or drops it if there are too many. It never blocks. The fingerprint belongs to the
// configuration that rejected the delivery, so a delivery that came during a change of the secrets is verified with the new
// ones. The delivery must not change any more.
func (d *Deliveries) Keep(account string, fingerprint []byte, delivery webhooks.Delivery) {
	if !d.enqueue(account, fingerprint, delivery) {
		d.Dropped(account)
	}
}

func (d *Deliveries) enqueue(account string, fingerprint []byte, delivery webhooks.Delivery) bool {
	now, network := d.Now(), account+" "+throttle.Network(delivery.RemoteAddr)
	// The network's limit comes first: a delivery that it refuses does not use up the account's limit.
	if d.networks.Reserve(network, now) > 0 || d.accounts.Reserve(account, now) > 0 {
		return false
	}
	w := waiting{account, network, fingerprint, delivery, len(delivery.Body) + len(delivery.URL)}
	for name, values := range delivery.Header {
		for _, value := range values {
			w.size += len(name) + len(value)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wait(w)
}

// wait queues a delivery if its account has room. One network may have half of this room at most, or one delivery. The caller
// must hold the lock.
func (d *Deliveries) wait(w waiting) bool {
	ofNetwork := d.bytes[w.network]
	if d.bytes[w.account]+w.size > waitingBytes || ofNetwork > 0 && ofNetwork+w.size > waitingBytes/2 {
		return false
	}
	d.waiting = append(d.waiting, w)
	d.bytes[w.account] += w.size
	d.bytes[w.network] += w.size
	return true
}

// Flush seals and stores the queued deliveries. While the storage is unavailable they stay queued, as far as there is room.
func (d *Deliveries) Flush(ctx context.Context) error {
	d.mu.Lock()
	taken := d.waiting
	d.waiting = nil
	clear(d.bytes)
	d.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	sealed := make([]Sealed, 0, len(taken))
	var failed error
	for _, w := range taken {
		s := Sealed{ID: payment.OnlyCell.NewIDAt(w.delivery.ReceivedAt), Account: w.account, Fingerprint: w.fingerprint, Network: bucket(w.network), At: w.delivery.ReceivedAt}
		text, err := seal(d.Box, s.Account, s.ID, w.delivery)
		if err != nil {
			failed = errors.Join(failed, err)
			d.Dropped(w.account)
			continue
		}
		s.Text = text
		sealed = append(sealed, s)
	}
	err := d.Store.RejectedKeep(ctx, sealed)
	switch {
	case errors.Is(err, payment.ErrUnavailable):
		d.requeue(taken)
	case err != nil:
		for _, s := range sealed {
			d.Dropped(s.Account)
		}
	}
	return errors.Join(failed, err)
}

// requeue queues deliveries again, before newer ones.
func (d *Deliveries) requeue(taken []waiting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	came := d.waiting
	d.waiting = nil
	clear(d.bytes)
	for _, w := range append(taken, came...) {
		if !d.wait(w) {
			d.Dropped(w.account)
		}
	}
}

// bucket returns the bucket of a network, one of some thousand: enough to separate a flood from the rest, too few to identify a
// sender.
func bucket(network string) int16 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(network))
	return int16(sum.Sum32() % 4096)
}
