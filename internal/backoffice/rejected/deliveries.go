package rejected

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/throttle"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	// Life is how long a rejected delivery is kept.
	Life = 24 * time.Hour
	// Most is the maximum number of deliveries of an account; the oldest are deleted first.
	Most = 1000
	// MostBytes is the maximum size of their stored form, in bytes.
	MostBytes = 16 << 20
)

const (
	// accountEach and accountAtOnce are how many of an account are kept in a second, and at once after a pause;
	// networkEach and networkAtOnce, from one network: a flood from there leaves room for the provider's.
	accountEach   = 20
	accountAtOnce = 200
	networkEach   = 10
	networkAtOnce = 100
	// waitingBytes of an account wait in memory until they are written.
	waitingBytes = 2 << 20
)

// Account is how the deliveries of an account are verified.
type Account struct {
	Verifier webhooks.Verifier
	// PublicURL and Senders belong to the account's endpoint.
	PublicURL string
	Senders   webhooks.Senders
	// Fingerprint changes with everything that verification depends on.
	Fingerprint []byte
}

// Sealed is a delivery as it is stored.
type Sealed struct {
	ID          uuid.UUID // sorts by time
	Account     string
	Text        []byte
	Fingerprint []byte
	Network     int16 // a bucket of them, from which it came
	At          time.Time
}

// Store stores rejected deliveries.
type Store interface {
	// RejectedKeep stores deliveries and deletes the oldest of their accounts beyond Most and MostBytes. It first deletes
	// deliveries of one network beyond half of these limits.
	RejectedKeep(ctx context.Context, deliveries []Sealed) error
	// RejectedUntried lists deliveries that were not verified with the fingerprint of their account yet, the oldest first, from
	// behind an id: at most limit, and at most so many bytes, approximately.
	RejectedUntried(ctx context.Context, fingerprints map[string][]byte, after uuid.UUID, limit, bytes int) ([]Sealed, error)
	// RejectedTried notes of deliveries that their fingerprint does not verify them.
	RejectedTried(ctx context.Context, deliveries []Sealed) error
	// RejectedErase deletes deliveries.
	RejectedErase(ctx context.Context, ids []uuid.UUID) error
}

// Options configure Deliveries. All are required.
type Options struct {
	Store    Store
	Box      Box
	Accounts *current.Map[Account]
	// Take takes verified events in; it is intake.Inbox.Intake.
	Take func(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error)
	// Dropped and Recovered are called with the account of each delivery that could not be kept, and of each that was taken in.
	Dropped, Recovered func(account string)
	Now                func() time.Time
}

// Deliveries are the rejected deliveries. Their methods are safe for concurrent use, except VerifyAgain.
type Deliveries struct {
	Options

	accounts, networks *throttle.KeyedLimiter

	mu      sync.Mutex
	waiting []waiting
	bytes   map[string]int

	// after is how far VerifyAgain has come.
	after uuid.UUID
}

// New returns the rejected deliveries of a store.
func New(o Options) *Deliveries {
	return &Deliveries{
		Options: o, accounts: throttle.New(accountEach, accountAtOnce), networks: throttle.New(networkEach, networkAtOnce),
		bytes: map[string]int{},
	}
}
