package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/authz"
)

// Keys renders a page of API keys.
func Keys(list []authz.Key, next string) gen.Keys {
	return gen.Keys{Items: mapped(list, key), NextCursor: orNull(next)}
}

// NewKey renders a key that was made, with its text.
func NewKey(k authz.Key, text string) gen.NewKey {
	shown := key(k)
	return gen.NewKey{
		KeyID: shown.KeyID, Key: text, Name: shown.Name, Roles: shown.Roles, Scopes: shown.Scopes, Prefix: shown.Prefix,
		CreatedAt: shown.CreatedAt, CreatedBy: shown.CreatedBy, ExpiresAt: shown.ExpiresAt, LastUsedAt: shown.LastUsedAt,
	}
}

func key(k authz.Key) gen.Key {
	out := gen.Key{
		KeyID: k.ID.String(), Name: k.Name, Roles: []string{}, Scopes: []string{}, Prefix: k.Prefix, CreatedAt: gen.Micros(k.CreatedAt),
		CreatedBy: k.CreatedBy, ExpiresAt: (*gen.Micros)(k.ExpiresAt), LastUsedAt: (*gen.Micros)(k.LastUsedAt),
	}
	for _, role := range k.Roles {
		out.Roles = append(out.Roles, string(role))
	}
	for _, scope := range k.Scopes {
		out.Scopes = append(out.Scopes, string(scope))
	}
	return out
}
