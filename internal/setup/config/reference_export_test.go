package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/webhooks/all"
)

// Reference describes all keys as Markdown: the manual must have it so.
func Reference() string {
	var b strings.Builder
	table(&b, "key", leaves(reflect.TypeFor[Config](), ""))
	items(&b, "one of `encryption_keys`", reflect.TypeFor[EncryptionKey]())
	items(&b, "one of `auth.hs256`", reflect.TypeFor[HS256Key]())
	items(&b, "one of `auth.issuers`", reflect.TypeFor[Issuer]())
	items(&b, "a cell", reflect.TypeFor[Cell]())
	items(&b, "an endpoint", reflect.TypeFor[Endpoint]())
	items(&b, "a stream", reflect.TypeFor[Stream]())
	items(&b, "a notice", reflect.TypeFor[Notice]())
	items(&b, "an account", reflect.TypeFor[Account]())
	for _, key := range provider.Keys() {
		kind := map[bool]string{true: "secret", false: "text"}[key.Secret]
		fmt.Fprintf(&b, "| `%s` | %s |  | %s |\n", key.Name, kind, key.Doc)
	}
	b.WriteString("\n| kind | to receive webhooks | to charge | further keys |\n|---|---|---|---|\n")
	for _, name := range all.Kinds() {
		k := provider.Kinds()[name]
		proof := k.Webhooks
		if k.About.Unsigned {
			proof = append(proof, "(a lookup)")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, codes(proof), codes(k.Calls), codes(k.Optional))
	}
	return b.String()
}

// Variables returns the environment variable of each key.
func Variables() map[string]string {
	all := map[string]string{}
	for _, l := range leaves(reflect.TypeFor[Config](), "") {
		all[l.key] = variableOf(l.key)
	}
	return all
}

// items writes the table of the keys that an item of a list has.
func items(b *strings.Builder, of string, t reflect.Type) {
	b.WriteString("\n")
	table(b, "key of "+of, leaves(t, ""))
}

// table has a column of defaults if a key has one.
func table(b *strings.Builder, title string, keys []leaf) {
	hasDefault := slices.ContainsFunc(keys, func(l leaf) bool { return l.field.Tag.Get("default") != "" })
	if hasDefault {
		fmt.Fprintf(b, "| %s | type | default | meaning |\n|---|---|---|---|\n", title)
	} else {
		fmt.Fprintf(b, "| %s | type | meaning |\n|---|---|---|\n", title)
	}
	for _, l := range keys {
		row := []string{code(l.key), typeName(l.field.Type)}
		if hasDefault {
			row = append(row, code(l.field.Tag.Get("default")))
		}
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(row, " | "), l.field.Tag.Get("doc"))
	}
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[netip.Prefix]():
		return "network"
	case reflect.TypeFor[int](), reflect.TypeFor[float64]():
		return "number"
	case reflect.TypeFor[bool]():
		return "true or false"
	case reflect.TypeFor[string]():
		return "text"
	}
	if t.Kind() == reflect.Slice {
		return "list of " + strings.TrimSuffix(typeName(t.Elem()), "s") + "s"
	}
	if t == reflect.TypeFor[Account]() {
		return "account"
	}
	if t == reflect.TypeFor[Cell]() {
		return "cell"
	}
	if t == reflect.TypeFor[Endpoint]() {
		return "endpoint"
	}
	if t == reflect.TypeFor[Stream]() {
		return "stream"
	}
	if t == reflect.TypeFor[Notice]() {
		return "notice"
	}
	return "key"
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codes(names []string) string {
	shown := make([]string, 0, len(names))
	for _, n := range names {
		if strings.HasPrefix(n, "(") {
			shown = append(shown, n)
		} else {
			shown = append(shown, code(n))
		}
	}
	return strings.Join(shown, ", ")
}
