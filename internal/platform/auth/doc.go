// Package auth turns tokens and API keys into a [payment.Actor], and encrypts data. Only the service may read the
// encrypted data.
//
//	Authorization ─► Bearer ─► Authenticate ─┬─ pst_…  status token: one attempt, reading only
//	                                         ├─ plk_…  API key: a row of the database, read at most twice a second
//	                                         ├─ HS256  a key of the ring, which may give only its roles
//	                                         └─ RS256, ES256, EdDSA  a key of the JWKS address
//
// A JWT must have sub, roles (a list) and exp, and the configured iss and aud. For keys of a JWKS address iss and aud are
// required, since such keys also sign tokens for other services. A JWT must be an access token: ID tokens are refused. Each
// algorithm has its own key: a public key of the JWKS never serves as a secret, and "none" is no algorithm. An exp is exact; an
// nbf may lie up to five seconds ahead, because a clock that runs behind the issuer's would otherwise refuse fresh tokens.
//
// [Authenticator.Run] fetches the keys of the JWKS. If a token names another key, they are fetched at once, but at a limited
// rate, so that a caller can't abuse it. While the address does not answer, the last keys stay in use.
//
// Status tokens and sealed texts have keys of their own, derived from a ring ([Keys]). The first key of the ring makes them, and
// all keys of the ring accept them. Tokens and texts of a key that left the ring are worthless.
//
// Staff signs in to the console at an OpenID provider ([OpenID]); the console owns the session that follows. There are no
// refresh tokens and no revocation of a single token. An API key can be revoked.
package auth
