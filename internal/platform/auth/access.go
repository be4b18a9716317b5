package auth

import (
	"slices"
	"strings"
)

// isAccess reports whether the token is an access token. An OpenID provider signs ID tokens and other tokens for a client with
// the same keys, and the client may hand them on. Such tokens are no credentials.
//
// The header typ (RFC 9068: at+jwt), or the claims typ (Keycloak) and token_use (Cognito), declare the kind of a token. Any
// other declared kind is refused. A token without a declaration is refused if it has claims that only ID tokens have, or claims
// that access tokens have only beside a scope and it has no scope.
func (c *claims) isAccess(header map[string]any) bool {
	declared := false
	for _, d := range []struct {
		value  any
		access []string // declare an access token
		open   []string // declare nothing
	}{
		{header["typ"], []string{"at+jwt", "application/at+jwt"}, []string{"jwt", "application/jwt"}},
		{c.MapClaims["typ"], []string{"bearer", "at+jwt"}, []string{"jwt"}},
		{c.MapClaims["token_use"], []string{"access"}, nil},
	} {
		if d.value == nil {
			continue
		}
		text, ok := d.value.(string)
		text = strings.ToLower(text)
		switch {
		case ok && slices.Contains(d.access, text):
			declared = true
		case !ok || !slices.Contains(d.open, text):
			return false
		}
	}
	return declared || !c.looksLikeID()
}

// looksLikeID follows OpenID Connect Core 1.0, 2 and 3.3.2.11, and by RFC 9068,
// 2.2.1, which allows some of these claims in access tokens, too.
func (c *claims) looksLikeID() bool {
	if c.has("nonce", "at_hash", "c_hash", "s_hash") {
		return true
	}
	return !c.has("scope", "scp") && (c.has("auth_time", "acr", "amr") || c.isForItsClient())
}

func (c *claims) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.MapClaims[name] != nil })
}

// isForItsClient reports whether the only audience is the client that the token was
// issued to.
func (c *claims) isForItsClient() bool {
	client, _ := c.MapClaims["azp"].(string)
	audience, err := c.GetAudience()
	return err == nil && client != "" && len(audience) == 1 && audience[0] == client
}
