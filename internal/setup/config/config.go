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
	OperationsListen string          `koanf:"operations_listen" doc:"where /metrics, /readyz and /healthz are served, and then only there; absent: beside the API"`
	TLS              TLS             `koanf:"tls"`
	Environment      string          `koanf:"environment" doc:"live, test or dev; absent: live for paylatch serve, dev for paylatch dev"`
	DatabaseURL      Secret          `koanf:"database_url" doc:"PostgreSQL; paylatch serve needs it. With paylatch dev, absent: a private one under data_dir"`
	Database         Database        `koanf:"database"`
	Cells            []Cell          `koanf:"cells" doc:"further databases beside database_url, which is cell 0; an account is in one of them"`
	DataDir          string          `koanf:"data_dir" default:".paylatch" doc:"the directory for files of this machine"`
	EncryptionKeys   []EncryptionKey `koanf:"encryption_keys" doc:"the first encrypts payment methods' tokens and signs status tokens, all decrypt and verify; several while one is rotated. paylatch serve needs one, paylatch dev makes one in data_dir"`
	Auth             Auth            `koanf:"auth"`
	Console          Console         `koanf:"console"`
	Orders           Orders          `koanf:"orders"`
	DefaultAccount   string          `koanf:"default_account" doc:"the account of a pay that names none; absent: the only one that can charge"`
	Accounts         []Account       `koanf:"accounts" doc:"accounts at payment providers"`
	Endpoints        []Endpoint      `koanf:"endpoints" doc:"addresses to which events for the merchant are delivered"`
	Streams          []Stream        `koanf:"streams" doc:"message brokers to which events for the merchant are published"`
	Notices          []Notice        `koanf:"notices" doc:"mails about new cases"`
	Idempotency      Idempotency     `koanf:"idempotency"`
	ProviderTimeout  time.Duration   `koanf:"provider_timeout" default:"10s" doc:"limit of one call to a provider; shorter than idempotency.lease"`
	Reconcile        Reconcile       `koanf:"reconcile"`
	Retention        Retention       `koanf:"retention"`
	SilentAfter      time.Duration   `koanf:"silent_after" default:"30m" doc:"how long attempts may be pending without any webhook of their account until that counts as silent"`
	Log              Log             `koanf:"log"`
	Tracing          Tracing         `koanf:"tracing"`
	ShutdownTimeout  time.Duration   `koanf:"shutdown_timeout" default:"20s" doc:"how long requests may take to end at a stop"`
	TrustedProxies   []netip.Prefix  `koanf:"trusted_proxies" doc:"networks whose X-Forwarded-For is believed"`
	AllowPlain       []string        `koanf:"allow_plain" doc:"hosts, or host:port, that live may reach in clear: PostgreSQL, brokers, mail servers, collectors of traces, providers and endpoints in your own network. Absent: none but this machine"`
	CORSOrigins      []string        `koanf:"cors_origins" doc:"origins (https://shop.example) whose pages may read and follow an attempt with its status token; absent: none"`
	MaxWaiters       int             `koanf:"max_waiters" default:"20000" doc:"how many long polls and streams one process lets wait at once; less if it may not open as many files"`

	// Cell is the cell of this configuration, see [Config.In].
	Cell payment.Cell
}

// The environments. Live is the default of the service.
const (
	Live = "live"
	Test = "test"
	Dev  = "dev"
)

// Auth has the keys that verify tokens. Both ways may be configured at once.
type Auth struct {
	HS256       []HS256Key `koanf:"hs256" doc:"verify HS256 tokens; several while one is rotated"`
	HS256Secret Secret     `koanf:"hs256_secret" doc:"short for one of auth.hs256 with all roles and no id; refused in live"`
	Issuers     []Issuer   `koanf:"issuers" doc:"issuers of RS256, ES256 and EdDSA tokens, each with the roles that it may give"`
	JWKSURL     string     `koanf:"jwks_url" doc:"short for one of auth.issuers with auth.issuer and auth.audience; its tokens are customers' in live and may have any role elsewhere"`
	Issuer      string     `koanf:"issuer" doc:"the iss that an HS256 token must have, and that of jwks_url; absent: not checked"`
	Audience    string     `koanf:"audience" doc:"a name of this service alone, never a client's id; the aud of an HS256 token, and of those of jwks_url, must contain it. Absent: not checked"`
}

// Issuer issues tokens and publishes the keys that verify them.
type Issuer struct {
	Issuer   string   `koanf:"issuer" doc:"the iss of its tokens"`
	JWKSURL  string   `koanf:"jwks_url" doc:"where its keys are: https, or http on this machine outside live"`
	Audience string   `koanf:"audience" doc:"a name of this service alone, never a client's id; a token's aud must contain it"`
	Roles    []string `koanf:"roles" doc:"the roles that a token of it may have: customer, service, support, admin; other roles do not count"`
	// SubjectClaim makes the persons of two doors comparable.
	SubjectClaim string `koanf:"subject_claim" doc:"the claim that names staff, by the same name as console.oidc.subject_claim does; email counts if email_verified is true. Absent: sub, and where staff has several doors, its persons can't be told from those of other doors"`
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
	Issuer       string   `koanf:"issuer" doc:"the OpenID provider at which staff signs in, as its discovery document names it; absent: no sign-in to the console"`
	ClientID     string   `koanf:"client_id" doc:"paylatch's name at the provider"`
	ClientSecret Secret   `koanf:"client_secret" doc:"paylatch's secret at the provider; absent for a public client"`
	RedirectURL  string   `koanf:"redirect_url" doc:"the console's address as browsers see it, with /support/sign-in/callback at its end; to be registered at the provider"`
	Scopes       []string `koanf:"scopes" default:"[openid, profile]" doc:"the requested scopes"`
	RolesClaim   string   `koanf:"roles_claim" default:"roles" doc:"the claim of the ID token that holds support or admin, in a list or alone; a path such as realm_access.roles is followed"`
	SubjectClaim string   `koanf:"subject_claim" default:"sub" doc:"the claim that names the person in the audit log; choose only one that people can't change"`
}

// Orders configures the source of orders, and so of prices.
type Orders struct {
	CreatedBy    []string `koanf:"created_by" doc:"the roles whose tokens may create orders and so set prices: service, customer. Absent: service alone; with paylatch dev both"`
	CustomersMay []string `koanf:"customers_may" doc:"further rights of customers' tokens: capture_manual (ask for a hold), lines (send lines of their own, without receipts), cancel_hold (end a hold), confirm (capture all of a hold), confirm_part (capture any amount of it, which pays the order). Absent: none of it"`
}

// Idempotency has the time limits and the quota of idempotency keys.
type Idempotency struct {
	Wait  time.Duration `koanf:"wait" default:"5s" doc:"how long a repeated request waits for the first one's response"`
	Lease time.Duration `koanf:"lease" default:"30s" doc:"how long a runner owns its command"`
	Quota Quota         `koanf:"quota"`
}

// Quota is how many new keys a user may use in a time.
type Quota struct {
	NewKeys int           `koanf:"new_keys" default:"600" doc:"new keys of one user, and commands of one user that a process refuses"`
	Per     time.Duration `koanf:"per" default:"1m" doc:"their span"`
}

// Reconcile is the schedule of lookups of pending attempts.
type Reconcile struct {
	After time.Duration `koanf:"after" default:"10s" doc:"the time from a response to the first lookup of a pending attempt"`
	Every time.Duration `koanf:"every" default:"5s" doc:"how often due attempts are looked for"`
}

// Retention is how long data is kept.
type Retention struct {
	EventBytes time.Duration `koanf:"event_bytes" default:"2160h" doc:"how long the raw bytes and headers of providers' events are kept, at least: a month of them goes as a whole, a day after its last ones are that old; their ids, digest and verdict stay"`
	Events     time.Duration `koanf:"events" default:"720h" doc:"how long events for the merchant are kept: how far behind a reader of the feed may be"`
	Audit      time.Duration `koanf:"audit" default:"9600h" doc:"how long the audit log of staff is kept, 30 days at least"`
	Log        time.Duration `koanf:"log" default:"9600h" doc:"how long presses and provider calls are kept for timelines, 30 days at least"`
}

// Log configures the log.
type Log struct {
	Level  string `koanf:"level" default:"info" doc:"trace, debug, info, warn, error or disabled"`
	Format string `koanf:"format" default:"json" doc:"json or console"`
}
