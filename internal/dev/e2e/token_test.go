package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// secret is the key that signs tokens.
const secret = "0123456789abcdef0123456789abcdef"

// jwt makes a token by hand, since no library would make some of the tested tokens.
func jwt(algorithm, claims, key string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"`+algorithm+`","typ":"JWT"}`)) + "." + encode([]byte(claims))
	if algorithm == "none" {
		return text + "."
	}
	sum := hmac.New(sha256.New, []byte(key))
	sum.Write([]byte(text))
	return text + "." + encode(sum.Sum(nil))
}

// token is a good one for an hour.
func token(sub string, roles ...string) string { return tokenBy(secret, sub, roles...) }

// tokenBy is token by another key.
func tokenBy(key, sub string, roles ...string) string {
	return jwt("HS256", claims(sub, time.Hour, roles...), key)
}

func claims(sub string, ttl time.Duration, roles ...string) string {
	return fmt.Sprintf(`{"sub":%q,"roles":["%s"],"exp":%d}`, sub, strings.Join(roles, `","`), time.Now().Add(ttl).Unix())
}
