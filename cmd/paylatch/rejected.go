package main

import (
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/api/delivery"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/metrics"
	"github.com/paylatch/paylatch/internal/rejected"
)

// newRejected wires the deliveries that are rejected.
func (in *instance) newRejected(ring []auth.Key, sealer *auth.Sealer, receiving map[string]delivery.Account, counted *metrics.Metrics) error {
	accounts, err := rejectedAccounts(in.cfg, ring, receiving)
	if err != nil {
		return err
	}
	in.rejected = rejected.New(rejected.Options{
		Store: in.store.Rejected(), Box: sealer, Accounts: accounts, Take: in.rooms.Intake,
		Dropped: counted.RejectedDropped, Recovered: counted.RejectedRecovered, Now: time.Now,
	})
	return nil
}

func rejectedAccounts(cfg *config.Config, ring []auth.Key, receiving map[string]delivery.Account) (map[string]rejected.Account, error) {
	fingerprint, err := auth.NewFingerprint(ring)
	if err != nil {
		return nil, err
	}
	accounts := make(map[string]rejected.Account, len(receiving))
	for _, a := range cfg.Accounts {
		from, receives := receiving[a.Name]
		if !receives {
			continue
		}
		text, err := a.Verification()
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", a.Name, err)
		}
		accounts[a.Name] = rejected.Account{
			Verifier: from.Verifier, PublicURL: from.PublicURL, Senders: from.Senders, Fingerprint: fingerprint(text),
		}
	}
	return accounts, nil
}
