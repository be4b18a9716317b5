package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
)

type charge struct {
	ID        string   `json:"id"`
	Reference string   `json:"reference"`
	Status    string   `json:"status"`
	Amount    int64    `json:"amount"`
	Captured  int64    `json:"amount_captured"`
	Currency  string   `json:"currency"`
	Failure   *string  `json:"failure_code"`
	Refunds   []refund `json:"refunds"`
}

type refund struct {
	ID        string `json:"id"`
	Charge    string `json:"charge_id"`
	Reference string `json:"reference"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
}

// kept is what a key was used for, and how it was answered.
type kept struct {
	Hash   string `json:"hash"`
	Answer any    `json:"answer"`
}

// event is a webhook that was not received yet.
type event struct {
	ID   string `json:"id"`
	Body string `json:"body"`
}

// provider is all that there is, as the file has it.
type provider struct {
	mu           sync.Mutex
	file, apiKey string

	Charges []charge        `json:"charges"`
	Keys    map[string]kept `json:"keys"`
	Due     []event         `json:"due"`
}

func open(file, apiKey string) (*provider, error) {
	p := &provider{file: file, apiKey: apiKey, Keys: map[string]kept{}}
	if file == "" || apiKey == "" {
		return nil, errors.New("set PROVIDER_FILE and PROVIDER_API_KEY")
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return p, nil
}

// save replaces the file as a whole. What is not on disk was not done: without it the process ends.
func (p *provider) save() {
	text, err := json.Marshal(p)
	if err == nil {
		err = replace(p.file, text)
	}
	if err != nil {
		slog.Error("the state can't be kept", "error", err)
		os.Exit(1)
	}
}

func replace(file string, text []byte) error {
	next, err := os.OpenFile(file+".next", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), file) //nolint:wrapcheck,gosec // it names the file, which the operator does
}
