package accounts

import (
	"maps"
	"net/http"
	"sync"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// Options configure a Set.
type Options struct {
	Client *http.Client
	Watch  Watch
	// Noted returns accounts with providers that record each call; nil leaves them as they are.
	Noted func(map[string]gateway.Account) map[string]gateway.Account
	// Fingerprint is the function of auth.NewFingerprint; without it rejected deliveries have no fingerprint.
	Fingerprint func(text []byte) []byte
	// Begun is called by Reload with the names of the accounts that begin payments, before the first payment begins; may be nil.
	Begun func(names []string)
	// Compare compares the merchants behind accounts with those of the database. Reload calls it before it takes the accounts; nil for
	// no comparison.
	Compare func(list []config.Account) (map[string]Owned, error)
}

// Set is the configured accounts in use. Each of its maps is replaced as a whole. It is safe for concurrent use.
type Set struct {
	Charged   *current.Map[gateway.Account]
	Receiving *current.Map[api.WebhookAccount]
	// Readers are the verifiers that can read stored events again.
	Readers *current.Map[webhooks.Reader]
	// Rejected are how rejected deliveries are verified again.
	Rejected *current.Map[rejected.Account]

	o     Options
	build builder

	mu sync.Mutex
	// start is the configuration that the process began with, kept the accounts in use, in its order.
	start config.Config
	kept  []entry
	forms *current.Map[webhooks.ReferenceForm]
}

// entry is an account in use.
type entry struct {
	built

	config config.Account
	// verification is the account's settings that affect the verification of its webhooks.
	verification []byte
}

// New builds the configured accounts. It calls no provider.
func New(cfg *config.Config, o Options) (*Set, error) {
	s := &Set{
		Charged: current.Of[gateway.Account](nil), Receiving: current.Of[api.WebhookAccount](nil), Readers: current.Of[webhooks.Reader](nil),
		Rejected: current.Of[rejected.Account](nil), forms: current.Of[webhooks.ReferenceForm](nil), o: o, build: newBuilder(o.Client, o.Watch), start: *cfg,
	}
	for _, a := range cfg.Accounts {
		e, err := s.entry(a)
		if err != nil {
			return nil, err
		}
		s.kept = append(s.kept, e)
	}
	s.guard(s.kept)
	s.use()
	return s, nil
}

// Reference returns the reference of a payment that is begun elsewhere, as the provider of an account gets it.
func (s *Set) Reference(account, attempt string) (string, map[string]string) {
	return s.forms.Get(account).For(attempt)
}

func (s *Set) entry(a config.Account) (entry, error) {
	e := entry{config: a}
	var err error
	if e.built, err = s.build.account(a); err != nil || e.receiving.Verifier == nil {
		return e, err
	}
	if e.verification, err = a.Verification(); err != nil {
		return e, err
	}
	if s.o.Fingerprint != nil {
		e.receiving.Fingerprint = s.o.Fingerprint(e.verification)
	}
	return e, nil
}

// guard limits and counts the calls of accounts that were just built, and counts their webhooks.
func (s *Set) guard(list []entry) {
	for i := range list {
		if list[i].receiving.Verifier != nil {
			s.o.Watch.Metrics.Receives(list[i].config.Name)
		}
		if p := list[i].charged.Provider; p != nil {
			list[i].charged.Provider = s.o.Watch.guard(list[i].config, p)
		}
	}
}

// use puts the stored accounts into use: first the accounts that are called, then the accounts that receive webhooks.
func (s *Set) use() {
	charged, receiving := make(map[string]gateway.Account, len(s.kept)), make(map[string]api.WebhookAccount, len(s.kept))
	readers, refused, forms := map[string]webhooks.Reader{}, map[string]rejected.Account{}, map[string]webhooks.ReferenceForm{}
	for _, e := range s.kept {
		name, in := e.config.Name, e.receiving
		charged[name], forms[name] = e.charged, all.Reference(e.config.Kind)
		if in.Verifier == nil {
			continue
		}
		receiving[name] = in
		refused[name] = rejected.Account{Verifier: in.Verifier, PublicURL: in.PublicURL, Senders: in.Senders, Fingerprint: in.Fingerprint}
		if reader, ok := in.Verifier.(webhooks.Reader); ok {
			readers[name] = reader
		}
	}
	if s.o.Noted != nil {
		charged = s.o.Noted(maps.Clone(charged))
	}
	s.forms.Replace(forms)
	s.Charged.Replace(charged)
	s.Readers.Replace(readers)
	s.Rejected.Replace(refused)
	s.Receiving.Replace(receiving)
}
