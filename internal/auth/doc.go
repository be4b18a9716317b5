// Package auth turns tokens into a [payment.Actor] and keeps what only the
// service may read.
//
//	Authorization ─► Bearer ─► Authenticate ─┬─ pst_…  status token: one attempt, reading only
//	                                         ├─ HS256  a key of the ring, which may give only its roles
//	                                         └─ RS256, ES256, EdDSA  a key of the JWKS address
//
// A JWT must have sub, roles (a list) and exp, and the configured iss and aud, which
// keys of a JWKS address can't do without: they sign what is meant for others, too.
// It must be an access token: ID tokens are refused.
// Each algorithm has its own key: a public key of the JWKS never serves as a
// secret, and "none" is no algorithm. An exp is exact; an nbf may lie up to five
// seconds ahead, because a clock that runs behind the issuer's would otherwise
// refuse fresh tokens.
//
// The keys of the JWKS are fetched by [Authenticator.Run] and, when a token names
// another one, at once, but not more often than a caller could abuse.
// While the address does not answer, the last keys go on being used.
//
// Status tokens and sealed texts have keys of their own, derived from a ring ([Keys]):
// by its first key they are made, and by all of them accepted. What was made by a key
// that left the ring is worthless.
//
// Staff signs in to the console at an OpenID provider ([OpenID]); the session that
// follows is the console's. There are no refresh tokens and no revocation of a single
// token.
package auth
