package auth

import "strings"

// Bearer returns the token of an Authorization header. A header that is missing,
// of another scheme or malformed wraps ErrUnauthenticated.
func Bearer(authorization string) (string, error) {
	if authorization == "" {
		return "", refuse("there is no Authorization header")
	}
	scheme, token, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", refuse("the Authorization header must be: Bearer <token>")
	}
	token = strings.Trim(token, " ")
	if !isToken68(token) {
		return "", refuse("the Authorization header holds no token")
	}
	return token, nil
}

// isToken68 reports whether the text has the form of a token in RFC 6750, 2.1.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r) && (r < '0' || '9' < r) && !strings.ContainsRune("-._~+/", r)
	})
}
