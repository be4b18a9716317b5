// Package config turns a YAML file and the environment into one struct.
//
// The struct is the only list of keys. Its tags have their names, defaults and meanings; the reader, the names of the
// environment variables and the reference of the manual use these tags. Every value is a text until its field's type reads it.
// So the file and the environment obey the same rules, and an id keeps its leading zeros. An empty value counts as absent.
//
// All errors are found before any is reported. No error repeats a value, since the value may be a secret in the wrong place.
package config

import (
	"net/netip"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Config is everything that can be configured.
type Config struct {
	Listen           string          `koanf:"listen" default:"127.0.0.1:8080" doc:"where the API listens"`
	OperationsListen string          `koanf:"operations_listen" doc:"a separate address for /metrics, /readyz and /healthz; absent: listen"`
	TLS              TLS             `koanf:"tls"`
	Environment      string          `koanf:"environment" doc:"live, test or dev; absent: live for paylatch serve, dev for paylatch dev"`
	TimeZone         string          `koanf:"time_zone" default:"UTC" doc:"the shop's time zone, such as Europe/Berlin, for days in the search and in the console"`
	DatabaseURL      Secret          `koanf:"database_url" doc:"PostgreSQL; absent with paylatch dev: a private one under data_dir"`
	Database         Database        `koanf:"database"`
	Cells            []Cell          `koanf:"cells" doc:"further databases; database_url is cell 0"`
	DataDir          string          `koanf:"data_dir" default:".paylatch" doc:"the directory for files of this machine"`
	EncryptionKeys   []EncryptionKey `koanf:"encryption_keys" doc:"the first key encrypts and signs, all keys decrypt and verify; several during a rotation. paylatch dev makes a key in data_dir"`
	Auth             Auth            `koanf:"auth"`
	Console          Console         `koanf:"console"`
	Orders           Orders          `koanf:"orders"`
	DefaultAccount   string          `koanf:"default_account" doc:"the account of a pay without an account; absent: the only account that can charge"`
	Accounts         []Account       `koanf:"accounts" doc:"accounts at payment providers"`
	Endpoints        []Endpoint      `koanf:"endpoints" doc:"receivers of events for the merchant"`
	Streams          []Stream        `koanf:"streams" doc:"message brokers for events for the merchant"`
	Notices          []Notice        `koanf:"notices" doc:"mails about new cases"`
	Idempotency      Idempotency     `koanf:"idempotency"`
	ProviderTimeout  time.Duration   `koanf:"provider_timeout" default:"10s" doc:"time limit of a call to a provider; must be shorter than idempotency.lease"`
	Reconcile        Reconcile       `koanf:"reconcile"`
	Retention        Retention       `koanf:"retention"`
	SilentAfter      time.Duration   `koanf:"silent_after" default:"30m" doc:"an account with pending attempts counts as silent after this time without a webhook"`
	Log              Log             `koanf:"log"`
	Tracing          Tracing         `koanf:"tracing"`
	ShutdownTimeout  time.Duration   `koanf:"shutdown_timeout" default:"20s" doc:"how long running requests may continue after a stop signal"`
	TrustedProxies   []netip.Prefix  `koanf:"trusted_proxies" doc:"networks of your proxies; paylatch trusts their X-Forwarded-For"`
	AllowPlain       []string        `koanf:"allow_plain" doc:"hosts, or host:port, in your own network to which live may connect without encryption; absent: only this machine"`
	CORSOrigins      []string        `koanf:"cors_origins" doc:"origins (https://shop.example) of pages that may follow an attempt with its status token"`
	MaxWaiters       int             `koanf:"max_waiters" default:"20000" doc:"limit of waiting long polls and streams in one process; lower if the limit of open files is too low"`

	// Cell is the cell of this configuration, see [Config.In].
	Cell payment.Cell
}

// Zone is the shop's time zone.
func (c *Config) Zone() *time.Location {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// The environments. Live is the default of the service.
const (
	Live = "live"
	Test = "test"
	Dev  = "dev"
)

// Auth has the keys that verify tokens. Both ways may be configured at once.
type Auth struct {
	HS256       []HS256Key `koanf:"hs256" doc:"keys that verify HS256 tokens; several during a rotation"`
	HS256Secret Secret     `koanf:"hs256_secret" doc:"short form of one auth.hs256 entry with all roles and no id; refused in live"`
	Issuers     []Issuer   `koanf:"issuers" doc:"issuers of RS256, ES256 and EdDSA tokens"`
	JWKSURL     string     `koanf:"jwks_url" doc:"short form of one auth.issuers entry with auth.issuer and auth.audience; in live its tokens have the role customer, elsewhere they may have any role"`
	Issuer      string     `koanf:"issuer" doc:"the required iss of HS256 tokens and of tokens of jwks_url; absent: not checked"`
	KeysOnly    bool       `koanf:"keys_only" doc:"true: the service starts without keys for tokens, and accepts only API keys and status tokens"`
	Audience    string     `koanf:"audience" doc:"the required aud of HS256 tokens and of tokens of jwks_url: a name that only this service has, never a client's id; absent: not checked"`
}

// Issuer issues tokens and publishes the keys that verify them.
type Issuer struct {
	Issuer   string   `koanf:"issuer" doc:"the iss of the issuer's tokens"`
	JWKSURL  string   `koanf:"jwks_url" doc:"the address of the issuer's keys: https, or http on this machine outside live"`
	Audience string   `koanf:"audience" doc:"the required aud of the issuer's tokens: a name that only this service has, never a client's id"`
	Roles    []string `koanf:"roles" doc:"the allowed roles of the issuer's tokens: customer, service, support, admin"`
	// SubjectClaim makes the persons of two doors comparable.
	SubjectClaim string `koanf:"subject_claim" doc:"the claim that identifies staff, with the same values as console.oidc.subject_claim; email counts if email_verified is true. Absent: sub, and paylatch can't compare these persons with persons who sign in by another method"`
}

// Issuers lists the issuers; the issuer of auth.jwks_url is the first. It lists no roles, so that in live its tokens are
// customers' tokens.
func (c *Config) Issuers() []Issuer {
	a := c.Auth
	if a.JWKSURL == "" {
		return a.Issuers
	}
	may := roles()
	if c.Environment == Live {
		may = []string{"customer"}
	}
	return append([]Issuer{{Issuer: a.Issuer, JWKSURL: a.JWKSURL, Audience: a.Audience, Roles: may}}, a.Issuers...)
}

// Console configures the sign-in to the pages under /support.
type Console struct {
	OIDC OIDC `koanf:"oidc"`
}

// OIDC is an OpenID provider. Without an issuer there is no sign-in.
type OIDC struct {
	Issuer       string   `koanf:"issuer" doc:"the issuer of the staff's OpenID provider, as in its discovery document; absent: no sign-in to the console"`
	ClientID     string   `koanf:"client_id" doc:"paylatch's client id at the provider"`
	ClientSecret Secret   `koanf:"client_secret" doc:"paylatch's secret at the provider; absent for a public client"`
	RedirectURL  string   `koanf:"redirect_url" doc:"the console's public address followed by /support/sign-in/callback; register it at the provider"`
	Scopes       []string `koanf:"scopes" default:"[openid, profile]" doc:"the requested scopes"`
	RolesClaim   string   `koanf:"roles_claim" default:"roles" doc:"the ID token's claim with support or admin, alone or in a list; may be a path such as realm_access.roles"`
	SubjectClaim string   `koanf:"subject_claim" default:"sub" doc:"the claim that identifies the person in the audit log; people must not be able to change its value"`
}

// Orders configures the source of orders, and so of prices.
type Orders struct {
	CreatedBy     []string `koanf:"created_by" doc:"the roles that may create orders and so set prices: service, customer. Absent: only service; with paylatch dev both"`
	ReturnSchemes []string `koanf:"return_schemes" doc:"the schemes of the shop's apps that a return_url may have besides http and https: myshop allows myshop://paid"`
	CustomersMay  []string `koanf:"customers_may" doc:"further rights of customers' tokens: capture_manual (request a hold), cancel_hold (end a hold), confirm (capture all of a hold), confirm_part (capture a part of a hold, which pays the order)"`
}

// Idempotency has the time limits and the quota of idempotency keys.
type Idempotency struct {
	Wait  time.Duration `koanf:"wait" default:"5s" doc:"how long a repeated request waits for the first response"`
	Lease time.Duration `koanf:"lease" default:"30s" doc:"how long a runner owns its command"`
	Quota Quota         `koanf:"quota"`
	// ReusedStatus is the status of the response to a reused key.
	ReusedStatus int `koanf:"reused_status" default:"409" doc:"status of the response to another request with a used key: 409, or 422 as in the IETF draft; the code is always idempotency-key-reused"`
}

// Quota is how many new keys a user may use in a time.
type Quota struct {
	NewKeys int           `koanf:"new_keys" default:"600" doc:"limit of a user's new keys, and of a user's refused commands in one process"`
	Per     time.Duration `koanf:"per" default:"1m" doc:"the period of quota.new_keys"`
}

// Reconcile is the schedule of lookups of pending attempts.
type Reconcile struct {
	After time.Duration `koanf:"after" default:"10s" doc:"the time from the response to the first lookup of a pending attempt"`
	Every time.Duration `koanf:"every" default:"5s" doc:"how often paylatch searches for due attempts"`
}

// Retention is how long data is kept.
type Retention struct {
	EventBytes time.Duration `koanf:"event_bytes" default:"2160h" doc:"the minimum time for which bodies and headers of webhooks are kept; whole months are deleted ([stored data](privacy.md#tables))"`
	Events     time.Duration `koanf:"events" default:"720h" doc:"how long events for the merchant are kept for late readers"`
	Audit      time.Duration `koanf:"audit" default:"9600h" doc:"how long the audit log is kept, 30 days at least"`
	Log        time.Duration `koanf:"log" default:"9600h" doc:"how long requests and provider calls are kept for timelines, 30 days at least"`
}

// Log configures the log.
type Log struct {
	Level  string `koanf:"level" default:"info" doc:"trace, debug, info, warn, error or disabled"`
	Format string `koanf:"format" default:"json" doc:"json or console"`
}
