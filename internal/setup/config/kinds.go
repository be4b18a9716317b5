package config

import (
	"reflect"
	"slices"

	"github.com/paylatch/paylatch/internal/provider"
)

// everyKind lists the keys that any account may have.
func everyKind() []string {
	var names []string
	for f := range reflect.TypeFor[Account]().Fields() {
		if name := keyOf(f); name != "" && name != "webhook_secrets" {
			names = append(names, name)
		}
	}
	return names
}

// understands reports whether the key means anything to the kind.
func understands(k provider.Kind, key string) bool {
	return slices.Contains(slices.Concat(everyKind(), k.Webhooks, k.Calls, k.Optional), key)
}

// present lists the keys that the account has.
func (a Account) present() []string {
	var names []string
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if name := keyOf(v.Type().Field(i)); name != "" && !v.Field(i).IsZero() {
			names = append(names, name)
		}
	}
	for _, key := range provider.Keys() {
		if name := provider.Section(key.Name); a.Fields[key.Name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// missing lists the keys that the account lacks.
func (a Account) missing(keys []string) []string {
	have := a.present()
	return slices.DeleteFunc(slices.Clone(keys), func(f string) bool { return slices.Contains(have, f) })
}
