package provider

import (
	"slices"
	"strings"
	"sync"

	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// Kind combines the descriptors of a provider's webhooks and of its adapter.
type Kind struct {
	// Webhooks are the keys that verify a webhook. Calls are the keys that calls need; none if the kind has no calls.
	Webhooks, Calls []string
	Optional        []string
	// Keys are the keys that only some kinds have.
	Keys    []webhooks.Key
	About   webhooks.About
	Adapter kit.Adapter
}

var kinds = sync.OnceValue(describedKinds) //nolint:gochecknoglobals // the descriptors are the program's own: they never change

// Kinds returns all kinds of accounts by name.
func Kinds() map[string]Kind { return kinds() }

func describedKinds() map[string]Kind {
	made, adapters := map[string]Kind{}, Adapters()
	for _, about := range all.Abouts() {
		k := Kind{About: about, Adapter: adapters[about.Kind]}
		k.Webhooks, k.Calls = needed(about.Keys), needed(k.Adapter.Keys)
		for _, key := range slices.Concat(about.Keys, k.Adapter.Keys) {
			if key.Doc != "" {
				k.Keys = append(k.Keys, key)
			}
			if name := Section(key.Name); key.Optional && !slices.Contains(slices.Concat(k.Webhooks, k.Calls, k.Optional), name) {
				k.Optional = append(k.Optional, name)
			}
		}
		made[about.Kind] = k
	}
	return made
}

func needed(keys []webhooks.Key) []string {
	var names []string
	for _, key := range keys {
		if !key.Optional {
			names = append(names, key.Name)
		}
	}
	return names
}

// Section returns the first part of a key: basic_auth of basic_auth.user.
func Section(key string) string {
	name, _, _ := strings.Cut(key, ".")
	return name
}

var keys = sync.OnceValue(describedKeys) //nolint:gochecknoglobals // as kinds

// Keys returns the keys of an account that only some kinds have, each once, sorted by name.
func Keys() []webhooks.Key { return keys() }

func describedKeys() []webhooks.Key {
	var keys []webhooks.Key
	for _, k := range kinds() {
		keys = append(keys, k.Keys...)
	}
	slices.SortFunc(keys, func(a, b webhooks.Key) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(keys, func(a, b webhooks.Key) bool { return a.Name == b.Name })
}
