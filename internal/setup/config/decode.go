package config

import (
	"errors"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/provider"
)

// decoder fills the struct from a tree. A value that can't be read leaves the default in its place.
type decoder struct{ *report }

func (d decoder) value(dst reflect.Value, raw any, key string) {
	switch {
	case isSection(dst.Type()):
		d.section(dst, raw, key)
	case dst.Kind() == reflect.Slice:
		d.list(dst, raw, key)
	default:
		d.scalar(dst, raw, key)
	}
}

// isSection separates structs of keys from values that happen to be structs.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[netip.Prefix]()
}

func keyOf(f reflect.StructField) string { return f.Tag.Get("koanf") }

func (d decoder) section(dst reflect.Value, raw any, key string) {
	m, ok := raw.(map[string]any)
	if !ok {
		d.add(key, "must be a mapping (key: value)")
	}
	var known []string
	for i := range dst.NumField() {
		f := dst.Type().Field(i)
		name := keyOf(f)
		if name == "" && f.Type == reflect.TypeFor[map[string]Secret]() {
			known = append(known, d.fields(dst.Field(i), m, key)...)
			continue
		}
		if name == "" {
			continue
		}
		known = append(known, name)
		d.field(dst.Field(i), f.Tag.Get("default"), m[name], join(key, name))
	}
	d.strangers(m, known, key)
}

// strangers reports the keys that nothing reads.
func (d decoder) strangers(m map[string]any, known []string, key string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, name) {
			d.add(presentable(join(key, name)), "no such key%s", Suggest(name, known))
		}
	}
}

// fields reads the keys of an account that only some kinds have, and lists their names.
func (d decoder) fields(dst reflect.Value, m map[string]any, key string) []string {
	values := map[string]Secret{}
	parts := map[string][]string{}
	for _, own := range provider.Keys() {
		name, part, inSection := strings.Cut(own.Name, ".")
		parts[name] = append(parts[name], part)
		raw := m[name]
		if inner, ok := raw.(map[string]any); ok && inSection {
			raw = inner[part]
		} else if inSection && raw != nil && raw != "" {
			raw = nil
			d.add(join(key, name), "must be a mapping (key: value)")
		}
		if raw != nil && raw != "" {
			var value Secret
			d.scalar(reflect.ValueOf(&value).Elem(), raw, join(key, own.Name))
			values[own.Name] = value
		}
	}
	dst.Set(reflect.ValueOf(values))
	for name := range parts {
		if inner, ok := m[name].(map[string]any); ok && parts[name][0] != "" {
			d.strangers(inner, parts[name], join(key, name))
		}
	}
	return slices.Sorted(maps.Keys(parts))
}

func (d decoder) field(dst reflect.Value, byDefault string, raw any, key string) {
	if byDefault != "" {
		d.value(dst, byDefault, key)
	}
	switch {
	case raw != nil && raw != "":
		d.value(dst, raw, key)
	case isSection(dst.Type()):
		d.section(dst, map[string]any{}, key)
	}
}

// list also takes a text that is itself YAML or JSON: the environment has nothing else.
func (d decoder) list(dst reflect.Value, raw any, key string) {
	if text, ok := raw.(string); ok {
		tree, err := (&parser{report: d.report}).parse([]byte(text), key)
		if err != nil {
			d.add(key, "is neither YAML nor JSON: %v", err)
			return
		}
		raw = tree
	}
	items, ok := raw.([]any)
	if !ok {
		d.add(key, "must be a list, such as [a, b]")
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(items), len(items)))
	for i, item := range items {
		if item == nil || item == "" {
			d.add(index(key, i), "is empty; remove it")
			continue
		}
		d.value(dst.Index(i), item, index(key, i))
	}
}

func (d decoder) scalar(dst reflect.Value, raw any, key string) {
	text, ok := raw.(string)
	if !ok {
		d.add(key, "must be a single value")
		return
	}
	if err := set(dst, text); err != nil {
		d.add(key, "%v", err)
	}
}

// set reads the text as the field's type. Its errors name the right form, never the value that was found.
func set(dst reflect.Value, text string) error {
	switch p := dst.Addr().Interface().(type) {
	case *time.Duration:
		return setDuration(p, text)
	case *netip.Prefix:
		return setPrefix(p, text)
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("must be a whole number")
		}
		*p = n
	case *float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("must be a number, such as 0.1")
		}
		*p = f
	case *bool:
		if text != "true" && text != "false" {
			return errors.New("must be true or false")
		}
		*p = text == "true"
	default:
		dst.SetString(text)
	}
	return nil
}

// setDuration reads a duration of Go's, with days of 24 hours before it or alone.
func setDuration(p *time.Duration, text string) error {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "", text
	}
	var v time.Duration
	var err error
	if rest != "" {
		v, err = time.ParseDuration(rest)
	}
	if found {
		n, errDays := strconv.ParseUint(days, 10, 16)
		v, err = v+time.Duration(n)*24*time.Hour, errors.Join(err, errDays)
	}
	if err != nil || text == "" {
		return errors.New("must be a duration with its unit, such as 500ms, 10s, 5m or 90d")
	}
	*p = v
	return nil
}

var errNetwork = errors.New("must be an address or a network, such as 10.0.0.0/8")

func setPrefix(p *netip.Prefix, text string) error {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return errNetwork
		}
		*p = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return nil
	}
	v, err := netip.ParsePrefix(text)
	if err != nil {
		return errNetwork
	}
	*p = v.Masked()
	return nil
}
