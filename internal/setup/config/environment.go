package config

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
)

const prefix = "PAYLATCH_"

// leaf is a key that holds a value, as opposed to a section.
type leaf struct {
	key   string
	field reflect.StructField
}

// leaves lists the keys of a section in the order of the struct.
func leaves(t reflect.Type, key string) []leaf {
	var all []leaf
	for f := range t.Fields() {
		name := join(key, keyOf(f))
		if keyOf(f) == "" {
			continue
		}
		if isSection(f.Type) {
			all = append(all, leaves(f.Type, name)...)
		} else {
			all = append(all, leaf{name, f})
		}
	}
	return all
}

// variableOf is the environment variable of a key.
func variableOf(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// variables maps each variable to its key. Keys hold underscores themselves, so that the way back can't be computed.
func variables() map[string]string {
	all := map[string]string{}
	for _, l := range leaves(reflect.TypeFor[Config](), "") {
		all[variableOf(l.key)] = l.key
	}
	return all
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// overlay gives koanf the variables that are keys. It reports variables that look like misspelt keys.
func overlay(values map[string]string, r *report) *env.Env {
	known := variables()
	names := slices.Sorted(maps.Keys(known))
	entries := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.HasPrefix(name, prefix) && values[name] != "" {
			entries = append(entries, name+"="+values[name])
		}
	}
	return env.Provider(".", env.Opt{
		Prefix:      prefix,
		EnvironFunc: func() []string { return entries },
		TransformFunc: func(name, value string) (string, any) {
			// Another program's variable may begin like paylatch's. Only a text close to the name of a variable of paylatch is a misspelling of it.
			if hint := Suggest(name, names); known[name] == "" && !foreign(name) && hint != "" {
				r.add(presentable(name), "no such variable%s", hint)
			}
			return known[name], value
		},
	})
}

// Kubernetes gives every container variables about the services around it: next to one called paylatch they begin like
// ours.
var kubernetes = regexp.MustCompile(`^PAYLATCH_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)$`)

// foreign reports whether the variable belongs to the build, the tests or the platform.
func foreign(name string) bool {
	for _, begin := range []string{"CONFIG", "TEST", "TOOLS", "VECTORS", "BUILD", "BENCH"} {
		if strings.HasPrefix(name, prefix+begin) {
			return true
		}
	}
	return kubernetes.MatchString(name)
}
