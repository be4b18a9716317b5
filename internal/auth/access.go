package auth

import (
	"slices"
	"strings"
)

// isAccess reports whether the token is an access token. ID tokens and others that an
// OpenID provider issues for a client are signed with the same keys, and the client may
// hand them on: they are no credential.
//
// The kind of a token is declared by its header typ (RFC 9068: at+jwt), or by the claims
// typ (Keycloak) and token_use (Cognito). Any other declared kind is refused. Without a
// declaration, claims that only ID tokens have are refused, and those that access tokens
// have beside a scope.
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
