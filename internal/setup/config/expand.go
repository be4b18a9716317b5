package config

import (
	"regexp"
	"strings"
)

var (
	reference = regexp.MustCompile(`\$?\$\{[^}]*\}?`)
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	braced    = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// opening and closing stand for the braces of ${NAME} while YAML is parsed: in {api_key: ${NAME}} the braces would be YAML's
// own. The variable's value replaces them afterwards, so that no value can become YAML.
const (
	opening = "\ue000"
	closing = "\ue001"
)

func shield(b []byte) []byte { return braced.ReplaceAll(b, []byte("$$"+opening+"${1}"+closing)) }

func unshield(text string) string {
	return strings.NewReplacer("$"+opening, "${", closing, "}").Replace(text)
}

// expander replaces ${NAME} by the environment's value. $${ stands for a literal ${, and any other $ for itself. A reference
// that can't be replaced stays in the text, so that the key has no second error.
func expander(env map[string]string, r *report) func(key, text string) string {
	return func(key, text string) string {
		return reference.ReplaceAllStringFunc(text, func(ref string) string {
			if strings.HasPrefix(ref, "$$") {
				return ref[1:]
			}
			name := strings.TrimSuffix(ref[2:], "}")
			if !variable.MatchString(name) || !strings.HasSuffix(ref, "}") {
				r.add(presentable(key), "${…} must hold the name of an environment variable and nothing else; write $${ for a literal ${")
				return ref
			}
			value, ok := env[name]
			if !ok || value == "" {
				r.add(presentable(key), "the environment variable %s is not set", name)
				return ref
			}
			return value
		})
	}
}
