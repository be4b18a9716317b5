package accounts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// Merchants keep the merchants behind the accounts. All functions run in one transaction.
type Merchants interface {
	// Read returns all merchants, the latest first.
	Read(ctx context.Context) ([]payment.Merchant, error)
	// OpenOfOthers counts the open attempts of an account that were begun with another merchant than the one of the number, and
	// returns the first of them.
	OpenOfOthers(ctx context.Context, account string, number int) (open int64, first string, err error)
	Save(ctx context.Context, m payment.Merchant) error
}

// fetchMost bounds how long a start waits for the merchants from the providers.
const fetchMost = 3 * time.Second

// Claim is the merchant that the configuration puts behind an account.
type Claim struct {
	payment.Merchant

	how kit.Merchant
	// fetch fetches the merchant's id from the provider; nil if the provider has no such call. silent is set until it has responded.
	fetch  func(ctx context.Context) (string, error)
	silent bool
}

// Claims returns the merchants that configured accounts have, of the accounts that call a provider. It calls no provider.
func Claims(list []config.Account, client *http.Client, fingerprint func([]byte) []byte, now func() time.Time) []Claim {
	var claims []Claim
	for _, a := range list {
		if a.CanCharge() {
			claims = append(claims, claim(a, client, fingerprint, now))
		}
	}
	return claims
}

// Fetch fetches the merchants that the configuration does not name from the providers. It takes three seconds at most.
func Fetch(ctx context.Context, claims []Claim) {
	ctx, cancel := context.WithTimeout(ctx, fetchMost)
	defer cancel()
	var calls sync.WaitGroup
	for i := range claims {
		if c := &claims[i]; c.fetch != nil {
			calls.Go(func() {
				id, err := c.fetch(ctx)
				if c.silent = err != nil && !errors.Is(err, gateway.ErrUnsupported); id != "" {
					c.IDs[c.how.Keys[0]] = id
				}
			})
		}
	}
	calls.Wait()
}

func claim(a config.Account, client *http.Client, fingerprint func([]byte) []byte, now func() time.Time) Claim {
	adapter := provider.Kinds()[a.Kind].Adapter
	c := Claim{how: adapter.Merchant}
	c.Account, c.Kind, c.Live, c.IDs = a.Name, a.Kind, !a.ForTests(), adapter.Merchant.IDs(a.Credentials())
	var secrets []string
	for _, key := range adapter.Keys {
		if key.Secret {
			secrets = append(secrets, string(a.Fields[key.Name]))
		}
	}
	text, _ := json.Marshal(secrets) //nolint:errchkjson // texts always marshal
	c.Credentials = fingerprint(text)
	if fetch := adapter.Merchant.Fetch; fetch != nil && c.IDs[adapter.Merchant.Keys[0]] == "" {
		c.silent, c.fetch = true, func(ctx context.Context) (string, error) { return fetch(ctx, settings(a, client, now)) }
	}
	return c
}

// Owned is the merchant behind an account after the comparison.
type Owned struct {
	Number int
	// Proof must return nil before the provider is called; nil if the merchant is the stored one.
	Proof func(ctx context.Context) error
	// Stranded counts the open attempts of other merchants, and First is the first of them.
	Stranded int64
	First    string
	// Unknown is set if the account has other secrets than before, and nothing shows whether they are the same merchant's.
	Unknown bool
}

// Compare compares the merchants of a configuration with those of the database. It returns a payment.MerchantError if another merchant
// would be put behind an account with open payments. Unless begins is set, no merchant is written, and a merchant that is new in the
// database is refused.
func Compare(ctx context.Context, m Merchants, claims []Claim, begins bool, now time.Time) (map[string]Owned, error) {
	stored, err := m.Read(ctx)
	if err != nil {
		return nil, err
	}
	owned := map[string]Owned{}
	var refused []string
	for _, c := range claims {
		var had []payment.Merchant
		for _, s := range stored {
			if s.Account == c.Account {
				had = append(had, s)
			}
		}
		o, err := c.compare(ctx, m, had, begins, now)
		if wrong := (*payment.MerchantError)(nil); errors.As(err, &wrong) {
			refused = append(refused, wrong.Text)
			continue
		}
		if err != nil {
			return nil, err
		}
		owned[c.Account] = o
	}
	if len(refused) > 0 {
		return nil, &payment.MerchantError{Text: strings.Join(refused, "\n")}
	}
	return owned, nil
}

// compare compares one account; had are its merchants, the latest first.
func (c Claim) compare(ctx context.Context, m Merchants, had []payment.Merchant, begins bool, now time.Time) (o Owned, err error) {
	if len(had) == 0 {
		if begins {
			c.Since = now
			err = m.Save(ctx, c.Merchant)
		}
		return Owned{}, err
	}
	latest := had[0]
	if differing := c.differing(latest); len(differing) > 0 {
		return c.replace(ctx, m, had, begins, strings.Join(differing, ", "), now)
	}
	o = Owned{Number: latest.Number}
	if len(had) > 1 {
		if o.Stranded, o.First, err = m.OpenOfOthers(ctx, c.Account, o.Number); err != nil {
			return o, err
		}
	}
	_, known := c.how.Differing(c.IDs, latest.IDs)
	same := bytes.Equal(c.Credentials, latest.Credentials)
	if !same && !known {
		if c.silent && latest.IDs[c.how.Keys[0]] != "" {
			o.Proof = c.proof(latest)
			return o, nil
		}
		o.Unknown = true
	}
	ids := maps.Clone(latest.IDs)
	maps.Copy(ids, c.IDs)
	if !begins || same && maps.Equal(ids, latest.IDs) {
		return o, nil
	}
	latest.IDs, latest.Credentials = ids, c.Credentials
	return o, m.Save(ctx, latest)
}

// replace puts another merchant behind the account, unless payments of the others are open.
func (c Claim) replace(ctx context.Context, m Merchants, had []payment.Merchant, begins bool, differing string, now time.Time) (Owned, error) {
	if !begins {
		return Owned{}, refuse("accounts: %s: the account has another merchant in this configuration than in the service (%s): use the service's configuration", c.Account, differing)
	}
	for _, h := range had {
		c.Number = max(c.Number, h.Number+1)
	}
	for _, h := range had[1:] {
		if _, known := c.how.Differing(c.IDs, h.IDs); known && len(c.differing(h)) == 0 {
			c.Number = h.Number
			break
		}
	}
	open, first, err := m.OpenOfOthers(ctx, c.Account, c.Number)
	if err != nil {
		return Owned{}, err
	}
	if open > 0 {
		return Owned{}, refuse("accounts: %s: the configuration changes the account's merchant (%s), but the old merchant has "+
			"open payments: %d, such as payment attempt %s. Their lookups, captures and refunds would go to the new merchant. Keep the "+
			"old merchant under this name, and add an account with a new name for the new merchant; or first finish these "+
			"payments with the old configuration", c.Account, differing, open, first)
	}
	c.Since = now
	return Owned{Number: c.Number}, m.Save(ctx, c.Merchant)
}

func refuse(format string, args ...any) error {
	return &payment.MerchantError{Text: fmt.Sprintf(format, args...)}
}

// differing lists what distinguishes the merchant from another one; nothing if they are the same, as far as they can be compared.
func (c Claim) differing(from payment.Merchant) (texts []string) {
	if c.Kind != from.Kind {
		return []string{"kind " + c.Kind + ", it was " + from.Kind}
	}
	if c.Live != from.Live {
		modes := map[bool]string{true: "live mode", false: "test mode"}
		texts = append(texts, modes[c.Live]+", it was "+modes[from.Live])
	}
	keys, _ := c.how.Differing(c.IDs, from.IDs)
	for _, key := range keys {
		texts = append(texts, key+" "+c.IDs[key]+", it was "+from.IDs[key])
	}
	return texts
}

// proof returns a function that fetches the merchant until the provider responds. It returns an error for each call if the merchant is
// another one than the database's.
func (c Claim) proof(is payment.Merchant) func(ctx context.Context) error {
	var mu sync.Mutex
	var known bool
	var refused error
	key := c.how.Keys[0]
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if known {
			return refused
		}
		id, err := c.fetch(ctx)
		switch {
		case errors.Is(err, gateway.ErrUnsupported):
		case err != nil:
			return fmt.Errorf("fetch the merchant of account %s: %w", c.Account, err)
		case id != is.IDs[key]:
			refused = refuse("accounts: %s: the secrets belong to another merchant (%s %s, it was %s), so paylatch sends nothing for this "+
				"account: configure the old merchant's secrets, add an account with a new name for the new merchant, and restart", c.Account, key, id, is.IDs[key])
		}
		known = true
		return refused
	}
}

// Own puts the compared merchants behind the accounts, and logs their notes.
func (s *Set) Own(owned map[string]Owned, log zerolog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.Clone(s.kept)
	for i := range s.kept {
		e := &s.kept[i]
		o := owned[e.config.Name]
		e.config.Merchant, e.charged.Merchant = o.Number, o.Number
		if g, ok := e.charged.Provider.(*provider.Guard); ok && o.Proof != nil {
			e.charged.Provider = g.After(o.Proof)
		}
		for _, note := range o.Notes() {
			log.Warn().Str("account", e.config.Name).Msg(note)
		}
	}
	s.use()
}

// reown puts the merchants behind accounts of a new configuration.
func (s *Set) reown(fresh []entry) error {
	if s.o.Compare == nil || len(fresh) == 0 {
		return nil
	}
	list := make([]config.Account, len(fresh))
	for i := range fresh {
		list[i] = fresh[i].config
	}
	owned, err := s.o.Compare(list)
	if err != nil {
		return err
	}
	for i := range fresh {
		n := owned[fresh[i].config.Name].Number
		fresh[i].config.Merchant, fresh[i].charged.Merchant = n, n
	}
	return nil
}

// Notes returns warnings about the merchant behind an account.
func (o Owned) Notes() (notes []string) {
	if o.Stranded > 0 {
		notes = append(notes, fmt.Sprintf("%d open payments, such as payment attempt %s, belong to an earlier merchant, so paylatch sends "+
			"nothing for them. Finish them with that merchant's configuration, or resolve them", o.Stranded, o.First))
	}
	if o.Unknown {
		notes = append(notes, "the secrets have changed, and nothing shows whether they belong to the same merchant: set the merchant in the configuration, so that paylatch can compare it")
	}
	if o.Proof != nil {
		notes = append(notes, "the secrets have changed, and the provider did not confirm their merchant: paylatch asks again before the first call")
	}
	return notes
}
