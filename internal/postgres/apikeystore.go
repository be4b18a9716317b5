package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

var _ apikey.Store = (*APIKeyStore)(nil)

// APIKeyStore keeps API keys, for packages apikey and auth. It is safe for concurrent use.
type APIKeyStore struct {
	pool  *pool.Pool
	q     *dbsqlc.Queries
	audit *SupportStore
}

// NewAPIKeyStore returns a store on the connections of p.
func NewAPIKeyStore(p *pool.Pool) *APIKeyStore {
	return &APIKeyStore{pool: p, q: dbsqlc.New(), audit: NewSupportStore(p, nil)}
}

// Insert implements apikey.Store.
func (s *APIKeyStore) Insert(ctx context.Context, k authz.Key, hash authz.KeyHash, entry support.AuditEntry) (made authz.Key, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.APIKeyInsert(ctx, tx, &dbsqlc.APIKeyInsertParams{
			ApiKeyID: k.ID, Hash: hash[:], Prefix: k.Prefix, Name: k.Name, Roles: textsOf(k.Roles), Scopes: textsOf(k.Scopes), CreatedBy: k.CreatedBy,
			ExpiresAt: k.ExpiresAt,
		})
		if err != nil {
			return fmt.Errorf("insert API key %s: %w", k.ID, err)
		}
		made = apiKeyFromRow(row)
		return s.audit.InsertEntry(ctx, tx.Deferred(), entry)
	})
	return made, err
}

// Keys implements apikey.Store.
func (s *APIKeyStore) Keys(ctx context.Context, before uuid.UUID, limit int) (list []authz.Key, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.APIKeysList(ctx, c, &dbsqlc.APIKeysListParams{BeforeID: before, Most: int32(limit)}) //nolint:gosec // a page
		if err != nil {
			return fmt.Errorf("list API keys: %w", err)
		}
		for _, row := range rows {
			list = append(list, apiKeyFromRow(row))
		}
		return nil
	})
	return list, err
}

// Delete implements apikey.Store.
func (s *APIKeyStore) Delete(ctx context.Context, id uuid.UUID, entry func(authz.Key) support.AuditEntry) (k authz.Key, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.APIKeyDelete(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("delete API key %s: %w", id, pool.Missing(err, authz.ErrKeyNotFound))
		}
		k = apiKeyFromRow(row)
		return s.audit.InsertEntry(ctx, tx.Deferred(), entry(k))
	})
	return k, err
}

// Audited implements apikey.Store.
func (s *APIKeyStore) Audited(ctx context.Context, entry support.AuditEntry) error {
	return s.audit.AuditInsert(ctx, entry)
}

// KeyByHash implements auth.APIKeys.
func (s *APIKeyStore) KeyByHash(ctx context.Context, hash authz.KeyHash) (k authz.Key, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.APIKeyByHash(ctx, c, hash[:])
		if err != nil {
			return fmt.Errorf("read an API key: %w", pool.Missing(err, authz.ErrKeyNotFound))
		}
		k = apiKeyFromRow(row)
		return nil
	})
	return k, err
}

// KeyUsed implements auth.APIKeys.
func (s *APIKeyStore) KeyUsed(ctx context.Context, id uuid.UUID) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.q.APIKeyUsed(ctx, c, id) })
}

// Idle returns some names of valid keys that were not used for 90 days.
func (s *APIKeyStore) Idle(ctx context.Context) (names []string, err error) {
	const most = 10
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		names, err = s.q.APIKeysIdle(ctx, c, most)
		return err
	})
	return names, err
}

func apiKeyFromRow(row *dbsqlc.ApiKeys) authz.Key {
	return authz.Key{
		ID: row.ApiKeyID, Name: row.Name, Roles: valuesOf[payment.Role](row.Roles), Scopes: valuesOf[authz.Scope](row.Scopes), Prefix: row.Prefix,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, LastUsedAt: row.LastUsedAt,
	}
}

func textsOf[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

func valuesOf[T ~string](texts []string) []T {
	values := make([]T, len(texts))
	for i, text := range texts {
		values[i] = T(text)
	}
	return values
}
