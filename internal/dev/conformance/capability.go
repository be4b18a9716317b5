package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

func capabilityChecks() []check {
	return []check{{
		name: "capabilities", after: checkCharge, expects: "a call that was refused as not_supported has no effect", do: capable,
		remedy: "Refuse with 422 not_supported before anything is done.",
	}}
}

func (s *session) has(name string) { s.offers.has = append(s.offers.has, name) }

// lacks notes a feature that the provider does not offer, and a check that the refused request changed nothing.
func (s *session) lacks(name string, look func(context.Context) error) {
	s.offers.lacks = append(s.offers.lacks, name)
	s.offers.undone = append(s.offers.undone, undone{name, look})
}

// without reports whether the provider has refused something as not_supported.
func (o offers) without(name string) bool { return slices.Contains(o.lacks, name) }

func capable(ctx context.Context, s *session) error {
	for _, u := range s.offers.undone {
		if err := u.look(ctx); err != nil {
			return fmt.Errorf("%s are refused, and yet: %w", u.name, err)
		}
	}
	return found(fmt.Sprintf("with %s; without %s", listed(s.offers.has), listed(s.offers.lacks)))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing more"
	}
	return strings.Join(names, ", ")
}
