package config

import (
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is how the database is reached beside database_url.
type Database struct {
	DirectURL Secret `koanf:"direct_url" doc:"the database without a pooler, for LISTEN and migrations; absent: database_url"`
	Pooler    string `koanf:"pooler" default:"none" doc:"transaction if database_url is PgBouncer with pool_mode = transaction, which needs database.direct_url; otherwise none"`
	ReadURL   Secret `koanf:"read_url" doc:"a standby for the searches and lists of support and the lists of the API; its data may be some seconds old; absent or unreachable: database_url"`
	// Durability is ServerDurability or StorageDurability.
	Durability       string `koanf:"durability" default:"server" doc:"server: PostgreSQL's fsync and full_page_writes keep a commit. storage: the storage keeps it, as at Aurora or Neon; live then starts with these settings off. Both need synchronous_commit"`
	DurabilityReason string `koanf:"durability_reason" doc:"why the storage keeps commits, for the log and paylatch doctor; needed with durability: storage"`
}

// Cell is a further database. It uses the other keys of Database; only the addresses are its own.
type Cell struct {
	Number         int      `koanf:"number" doc:"1 to 1023; the ids of the cell's objects contain the number, so never change it"`
	DatabaseURL    Secret   `koanf:"database_url" doc:"PostgreSQL: a server, database or schema of its own"`
	DirectURL      Secret   `koanf:"direct_url" doc:"like database.direct_url"`
	ReadURL        Secret   `koanf:"read_url" doc:"like database.read_url"`
	OrderPrefixes  []string `koanf:"order_prefixes" doc:"prefixes of the order_id of the cell's orders; other orders are in cell 0"`
	DefaultAccount string   `koanf:"default_account" doc:"like default_account, for the orders of the cell"`
}

// The poolers.
const (
	NoPooler          = "none"
	TransactionPooler = "transaction"
)

// The means by which commits are durable.
const (
	ServerDurability  = "server"
	StorageDurability = "storage"
)

// Direct returns the address for work that needs a database session of its own, or url if no other address is configured.
func (d Database) Direct(url string) string {
	if d.DirectURL != "" {
		return string(d.DirectURL)
	}
	return url
}

const databaseForm = "must be postgres://user:password@host:port/database (special characters of the password as %%xx), with valid options and existing files"

func (r *report) database(main Secret, d Database) {
	r.databaseURL("database_url", main)
	r.databaseURL("database.direct_url", d.DirectURL)
	r.databaseURL("database.read_url", d.ReadURL)
	r.oneOf("database.pooler", d.Pooler, NoPooler, TransactionPooler)
	if d.Pooler == TransactionPooler && d.DirectURL == "" {
		r.add("database.direct_url", "is missing: LISTEN and migrations need sessions of their own, which a transaction pooler does not provide; set PostgreSQL itself")
	}
	r.oneOf("database.durability", d.Durability, ServerDurability, StorageDurability)
	switch given := strings.TrimSpace(d.DurabilityReason) != ""; {
	case d.Durability == StorageDurability && !given:
		r.add("database.durability_reason", "is missing: fsync and full_page_writes may be off only if the storage keeps every commit; give the product and the page of its manual that promises this")
	case d.Durability != StorageDurability && given:
		r.add("database.durability_reason", "is only for database.durability: storage")
	}
	if main == "" && (d.DirectURL != "" || d.ReadURL != "" || d.Pooler == TransactionPooler) {
		r.add("database", "needs database_url: set database_url, too")
	}
}

func (r *report) databaseURL(key string, value Secret) {
	if value == "" {
		return
	}
	cfg, ok := databaseConfig(string(value))
	if !ok {
		r.add(key, databaseForm)
		return
	}
	switch mode := cfg.ConnConfig.DefaultQueryExecMode; mode {
	case pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe:
	case pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		r.add(key, "default_query_exec_mode=%s changes query results; leave it out (behind PgBouncer set database.pooler)", strings.ReplaceAll(mode.String(), " ", "_"))
	}
}

// databaseConfig reads a URL or libpq's other form, host=… dbname=…. Its error would quote it, and with it perhaps a part of the
// password.
func databaseConfig(text string) (*pgxpool.Config, bool) {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, false
	}
	cfg, err := pgxpool.ParseConfig(text)
	return cfg, err == nil && strings.TrimSpace(text) != ""
}
