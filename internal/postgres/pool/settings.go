package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Setting is a setting that sessions must have.
type Setting struct {
	Name string
	// Value is the session's value.
	Value string
	// value is the value that this program sets. A time limit may differ, but must not be 0 (no limit).
	value string
	limit bool
}

// sessionSettings bound the damage of a frozen process, and define how times and transactions are read.
//
//nolint:gochecknoglobals // a table
var sessionSettings = []Setting{
	{Name: "lock_timeout", value: lockTimeout, limit: true},
	{Name: "statement_timeout", value: statementTimeout, limit: true},
	{Name: "idle_in_transaction_session_timeout", value: idleInTxTimeout, limit: true},
	{Name: "default_transaction_isolation", value: "read committed"},
	{Name: "timezone", value: "UTC"},
}

// SettingsError is returned for a database whose sessions lack required settings.
type SettingsError struct{ Settings []Setting }

func (e *SettingsError) Error() string {
	parts := make([]string, len(e.Settings))
	for i, s := range e.Settings {
		parts[i] = s.Name + " is " + s.Value
	}
	return "the sessions of the database lack settings: " + strings.Join(parts, ", ")
}

// Remedy is the statement that gives a role's sessions the setting.
func (s Setting) Remedy(role string) string {
	return fmt.Sprintf("ALTER ROLE %s SET %s = '%s'", pgx.Identifier{role}.Sanitize(), s.Name, s.value)
}

// holds reports whether a value that the server has will do.
func (s Setting) holds() bool {
	if s.limit {
		return s.Value != "0"
	}
	return strings.EqualFold(s.Value, s.value) || s.Name == "timezone" && slices.Contains([]string{"Etc/UTC", "GMT", "Etc/GMT"}, s.Value)
}

// PoolerError is returned where the address leads to a pooler that refuses the initial settings of a session.
type PoolerError struct{ Err error }

func (e *PoolerError) Error() string { return "the address leads to a pooler: " + e.Err.Error() }

// Unwrap returns the pooler's own error.
func (e *PoolerError) Unwrap() error { return e.Err }

// Settings returns a SettingsError if sessions lack settings, and a PoolerError if a pooler refuses to begin them. role
// is the role of the sessions.
func (p *Pool) Settings(ctx context.Context) (role string, err error) {
	err = p.on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := c.QueryRow(ctx, "SELECT current_user").Scan(&role); err != nil {
			return fmt.Errorf("read the role: %w", err)
		}
		return checkSettings(ctx, c)
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(refused.Message, "unsupported startup parameter") {
		return "", &PoolerError{err}
	}
	return role, err
}

func checkSettings(ctx context.Context, c *pgxpool.Conn) error {
	names := make([]string, len(sessionSettings))
	for i, s := range sessionSettings {
		names[i] = s.Name
	}
	rows, err := c.Query(ctx, `SELECT lower(name), setting FROM pg_settings WHERE lower(name) = ANY ($1) ORDER BY name`, names) //nolint:rowserrcheck // ForEachRow does
	if err != nil {
		return fmt.Errorf("read the settings of sessions: %w", err)
	}
	var lacking []Setting
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		s := sessionSettings[slices.Index(names, name)]
		if s.Value = value; !s.holds() {
			lacking = append(lacking, s)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the settings of sessions: %w", err)
	}
	if len(lacking) > 0 {
		return &SettingsError{lacking}
	}
	return nil
}
