package api

import (
	"context"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// keysChapter is the contract's chapter of API keys, which is for admins.
const keysChapter = "keys"

// CreateKey handles POST /v1/keys. The response is the only place that has the key's text: nothing keeps it.
func (s *server) CreateKey(ctx context.Context, r gen.CreateKeyRequestObject) (gen.CreateKeyResponseObject, error) {
	body := valueOf(r.Body)
	cmd := apikey.Create{Name: body.Name}
	for _, role := range body.Roles {
		cmd.Roles = append(cmd.Roles, payment.Role(role))
	}
	for _, scope := range valueOf(body.Scopes) {
		cmd.Scopes = append(cmd.Scopes, authz.Scope(scope))
	}
	if body.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *body.ExpiresAt)
		if err != nil {
			return nil, payment.Invalid("expires_at", "must be a time in RFC 3339 such as 2027-03-01T09:30:00Z")
		}
		cmd.ExpiresAt = &at
	}
	made, text, err := s.Keys.Create(ctx, ExchangeOf(ctx).Staff(), cmd)
	if err != nil {
		return nil, err
	}
	return response{http.StatusCreated, render.NewKey(made, text)}, nil
}

// ListKeys handles GET /v1/keys.
func (s *server) ListKeys(ctx context.Context, r gen.ListKeysRequestObject) (gen.ListKeysResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Keys.Keys(ctx, ExchangeOf(ctx).Staff(), page)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.Keys(list, next)}, nil
}

// RevokeKey handles DELETE /v1/keys/{key_id}.
func (s *server) RevokeKey(ctx context.Context, r gen.RevokeKeyRequestObject) (gen.RevokeKeyResponseObject, error) {
	id, err := apikey.ParseID(r.KeyID)
	if err != nil {
		return nil, err
	}
	revoked, err := s.Keys.Revoke(ctx, ExchangeOf(ctx).Staff(), id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, gen.RevokedKey{KeyID: revoked.ID.String(), Deleted: true}}, nil
}
