package apikey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Create is the command.
type Create struct {
	Name  string
	Roles []payment.Role
	// Scopes narrow the roles; none for all that the roles may.
	Scopes []authz.Scope
	// ExpiresAt is nil for a key without an end.
	ExpiresAt *time.Time
}

// Store keeps keys. Its errors are those of packages payment and authz.
type Store interface {
	// Insert stores a key and the entry in one transaction, and returns the key with its time.
	Insert(ctx context.Context, k authz.Key, hash authz.KeyHash, entry support.AuditEntry) (authz.Key, error)
	// Keys lists at most limit keys before an id, newest first.
	Keys(ctx context.Context, before uuid.UUID, limit int) ([]authz.Key, error)
	// Delete deletes a key and writes its entry in one transaction. It returns authz.ErrKeyNotFound.
	Delete(ctx context.Context, id uuid.UUID, entry func(authz.Key) support.AuditEntry) (authz.Key, error)
	// Audited writes an entry of its own.
	Audited(ctx context.Context, entry support.AuditEntry) error
}

// Service is the use cases of keys, for admins only. It is safe for concurrent use.
type Service struct {
	store  Store
	scopes []authz.Scope
	now    func() time.Time
}

// New returns a service. The scopes are all that there are.
func New(store Store, scopes []authz.Scope, now func() time.Time) *Service {
	return &Service{store, scopes, now}
}

// ParseID parses the id of a key. It returns authz.ErrKeyNotFound for a text that can't be one.
func ParseID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != strings.ToLower(text) {
		return uuid.UUID{}, authz.ErrKeyNotFound
	}
	return id, nil
}

// target is the target type of actions on a key.
const target = "api_key"

// Create makes a key and returns it with its text, which nothing keeps. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Create(ctx context.Context, who support.Staff, cmd Create) (k authz.Key, text string, err error) {
	if err := who.Require(payment.RoleAdmin); err != nil {
		return authz.Key{}, "", err
	}
	cmd.Roles, cmd.Scopes = sorted(cmd.Roles), sorted(cmd.Scopes)
	if err := s.check(who, cmd); err != nil {
		return authz.Key{}, "", err
	}
	text, prefix, hash := authz.NewKeyText()
	k = authz.Key{
		ID: payment.OnlyCell.NewID(), Name: cmd.Name, Roles: cmd.Roles, Scopes: cmd.Scopes, Prefix: prefix, CreatedBy: who.Person(),
		ExpiresAt: cmd.ExpiresAt,
	}
	if k, err = s.store.Insert(ctx, k, hash, entry(who, support.CreatedKey, k)); err != nil {
		return authz.Key{}, "", err
	}
	return k, text, nil
}

// Keys lists the keys that were not revoked, newest first. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Keys(ctx context.Context, who support.Staff, p support.Page) (list []authz.Key, next string, err error) {
	if err := who.Require(payment.RoleAdmin); err != nil {
		return nil, "", err
	}
	before, limit, err := p.BeforeID()
	if err != nil {
		return nil, "", err
	}
	e := who.Entry(support.ViewedKeys, "api_keys", "")
	e.ID, e.Outcome = payment.OnlyCell.NewID(), support.Done
	if err := s.store.Audited(ctx, e); err != nil {
		return nil, "", err
	}
	if list, err = s.store.Keys(ctx, before, limit+1); err != nil {
		return nil, "", err
	}
	list, next = support.Cut(p, list, func(k authz.Key) (time.Time, string) { return k.CreatedAt, k.ID.String() })
	return list, next, nil
}

// Revoke ends a key. It returns payment.ErrForbidden and authz.ErrKeyNotFound.
func (s *Service) Revoke(ctx context.Context, who support.Staff, id uuid.UUID) (authz.Key, error) {
	if err := who.Require(payment.RoleAdmin); err != nil {
		return authz.Key{}, err
	}
	k, err := s.store.Delete(ctx, id, func(k authz.Key) support.AuditEntry { return entry(who, support.RevokedKey, k) })
	if errors.Is(err, authz.ErrKeyNotFound) {
		refused := entry(who, support.RevokedKey, authz.Key{ID: id})
		refused.Outcome, refused.Detail = support.Refused, map[string]any{"refusal": err.Error()}
		err = errors.Join(err, s.store.Audited(context.WithoutCancel(ctx), refused))
	}
	return k, err
}

// entry is the entry of a change in the audit log. It outlives the key's row.
func entry(who support.Staff, action support.Action, k authz.Key) support.AuditEntry {
	e := who.Entry(action, target, k.ID.String())
	e.ID, e.Outcome = payment.OnlyCell.NewID(), support.Done
	e.Detail = map[string]any{"name": k.Name, "prefix": k.Prefix, "roles": k.Roles, "scopes": k.Scopes, "created_by": k.CreatedBy}
	if k.ExpiresAt != nil {
		e.Detail["expires_at"] = k.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return e
}

// sorted is a list in order, with each value once.
func sorted[T ~string](list []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// maxName bounds a name, in characters.
const maxName = 100

// check returns all validation errors of a command.
func (s *Service) check(who support.Staff, cmd Create) error {
	var wrong payment.ValidationError
	add := func(field, message string) {
		wrong.Fields = append(wrong.Fields, payment.FieldError{Field: field, Message: message})
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if n := utf8.RuneCountInString(cmd.Name); strings.TrimSpace(cmd.Name) == "" || n > maxName || !utf8.ValidString(cmd.Name) || strings.ContainsFunc(cmd.Name, hidden) {
		add("name", "must have 1 to 100 visible characters: it is the program that has the key")
	}
	if message := checkRoles(cmd.Roles); message != "" {
		add("roles", message)
	}
	for _, scope := range cmd.Scopes {
		if !slices.Contains(s.scopes, scope) {
			add("scopes", fmt.Sprintf("must be from this list: %s; %q is not in the list", list(s.scopes), string(scope)))
			break
		}
	}
	if cmd.ExpiresAt != nil && !s.now().Before(*cmd.ExpiresAt) {
		add("expires_at", "must be in the future")
	}
	if by := who.Key; by != nil {
		if !narrower(cmd.Scopes, *by) {
			add("scopes", "must be scopes of the key that makes this key: "+list(by.Scopes))
		}
		if by.ExpiresAt != nil && (cmd.ExpiresAt == nil || cmd.ExpiresAt.After(*by.ExpiresAt)) {
			add("expires_at", "must not be later than the end of the key that makes this key: "+by.ExpiresAt.UTC().Format(time.RFC3339))
		}
	}
	if len(wrong.Fields) > 0 {
		return &wrong
	}
	return nil
}

// checkRoles returns why a key can't have these roles; empty if it can.
func checkRoles(roles []payment.Role) string {
	allowed := []payment.Role{payment.RoleService, payment.RoleSupport, payment.RoleAdmin}
	switch {
	case slices.Contains(roles, payment.RoleCustomer):
		return "must not have customer: a key has no user. Use service, which acts for each user by On-Behalf-Of"
	case len(roles) == 0, slices.ContainsFunc(roles, func(r payment.Role) bool { return !slices.Contains(allowed, r) }):
		return "must be some of service, support and admin"
	}
	return ""
}

// narrower reports whether a key with these scopes may make only calls that the other key may make.
func narrower(scopes []authz.Scope, by authz.Key) bool {
	if len(by.Scopes) == 0 {
		return true
	}
	return len(scopes) > 0 && !slices.ContainsFunc(scopes, func(scope authz.Scope) bool { return !by.Actor().MayCall(scope) })
}

func list(scopes []authz.Scope) string {
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ", ")
}
