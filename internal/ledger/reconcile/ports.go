package reconcile

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Payments looks up payments and applies the reports about them.
type Payments interface {
	// Ask looks up an attempt, final or not, at its provider, and applies the response. It returns
	// gateway.ErrNoSuchPayment where the provider has no such payment.
	Ask(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error)
	// Apply applies reports to an attempt, under its lock, in their order.
	Apply(ctx context.Context, id payment.AttemptID, reports []payment.Report) (payment.Attempt, error)
}

// Store keeps runs and settlements. Its errors wrap payment.ErrUnavailable when the storage is gone.
type Store interface {
	// InReconcileTx runs fn in one transaction, as changeset.InTx.
	InReconcileTx(ctx context.Context, fn func(ctx context.Context, tx changeset.Tx) error) error
	// RunBegin inserts the run that decide returns, unless it is nil, while no other run of the account begins. Last is
	// about the runs of by. It may call decide more than once.
	RunBegin(ctx context.Context, account, by string, decide func(Last) *Run) (*Run, error)
	// RunMove writes the progress of a run, or its end. A run that has ended stays unchanged.
	RunMove(ctx context.Context, r Run) error
	// RunOf returns the first run that has compared every entry of a span and began after a time. A run that a person
	// has compared by hand must have begun after the span. It returns false if there is no such run.
	RunOf(ctx context.Context, account string, span gateway.Span, begun time.Time) (uuid.UUID, bool, error)
	// RunAges returns the time since the last finished run of by, by account. It leaves out accounts without a run.
	RunAges(ctx context.Context, by string, accounts []string) (map[string]time.Duration, error)
	// ReferencesKnown reads the attempts that have some names.
	ReferencesKnown(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error)
	// Recorded reads attempts with their movements, and leaves out missing attempts.
	Recorded(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error)
	// Orders reads orders, and leaves out missing orders.
	Orders(ctx context.Context, ids []payment.OrderID) (map[payment.OrderID]payment.Order, error)
	// SettlementsSave inserts new settlements, fills in empty payouts, fees and nets, and publishes the new settlements. It first inserts
	// the payouts that it does not have.
	SettlementsSave(ctx context.Context, all []payment.Settlement, payouts []payment.Payout) error
	// AccountEntriesSave inserts new entries that belong to no recorded payment, and fills in empty payouts, fees and nets. It first
	// inserts the payouts that it does not have.
	AccountEntriesSave(ctx context.Context, all []payment.AccountEntry, payouts []payment.Payout) error
	// EntriesKept returns the given ids whose entries SettlementsSave or AccountEntriesSave has stored for the account.
	EntriesKept(ctx context.Context, account string, ids []string) ([]string, error)
	// PayoutsSave applies the reports of payouts of an account, and publishes their changes. It first inserts the payouts that it does
	// not have.
	PayoutsSave(ctx context.Context, told []payment.Payout) error
	// Unsettled lists attempts of an account, by id, with money that was recorded in a span and has no settlement of its
	// kind.
	Unsettled(ctx context.Context, account string, from, to time.Time, after payment.AttemptID, limit int) ([]payment.AttemptID, error)
}

// Source is where entries come from.
type Source string

// The sources.
const (
	FromBooks Source = "books"
	FromFile  Source = "file"
	// FromPerson is the source of a run that reads nothing: a person has compared by hand.
	FromPerson Source = "person"
)

// Run is a run as stored.
type Run struct {
	ID       uuid.UUID
	Account  string
	From, To time.Time
	Source   Source
	// By is Daily, or the person who began it.
	By        string
	StartedAt time.Time
	TouchedAt time.Time
	// FinishedAt is set once the whole span was compared. Failure is set if that is not possible, or if entries could
	// not be read.
	FinishedAt *time.Time
	Failure    string
	// Reason is why a person has compared by hand, empty for all other runs.
	Reason string
	Count  Count
}

// Last is the state of the runs of one Run.By for an account. CoveredTo is the end of the last finished run's span,
// Finished its beginning, Tried the beginning of the last run. Running is set while a run is under way. Times are zero
// without such a run.
type Last struct {
	CoveredTo, Finished, Tried time.Time
	Running                    bool
}

// Alive is for how long a run without progress counts as under way.
const Alive = 15 * time.Minute

// Count has the results of the entries of a run, and of the attempts without an entry.
type Count struct {
	// Entries is the number of read entries about payments, without implied entries. Each is counted in one of the next five fields, or is
	// outside of the span.
	Entries int `json:"entries"`
	// Agreed were recorded so, LookedUp after a lookup of their payment, Applied after they were applied.
	Agreed   int `json:"agreed"`
	LookedUp int `json:"looked_up"`
	Applied  int `json:"applied"`
	// Recalled are payments of ours that were forgotten here and were made again by their entries.
	Recalled int `json:"recalled"`
	// Review are to be looked at by a person, Foreign are of payments of others.
	Review  int `json:"review"`
	Foreign int `json:"foreign"`
	Outside int `json:"outside"`
	// Missing are attempts with money that no entry has. A lookup confirmed some, Lost have no payment at the provider,
	// Unasked can't be looked up, and of Unanswered the lookup failed.
	Missing    int `json:"missing"`
	Lost       int `json:"unknown_at_provider"`
	Unasked    int `json:"unasked"`
	Unanswered int `json:"unanswered"`
}

// Results returns the counts of entries by result, as metrics have them.
func (n Count) Results() map[string]int {
	return map[string]int{
		"agreed": n.Agreed, "looked_up": n.LookedUp, "applied": n.Applied, "recalled": n.Recalled, "review": n.Review, "foreign": n.Foreign,
		"missing": n.Missing - n.Lost, "unknown_at_provider": n.Lost,
	}
}
