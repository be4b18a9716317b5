package kit

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Merchant describes how an account's configuration names the merchant behind the account. Neither secrets nor an addition of a
// missing key change the merchant.
type Merchant struct {
	// Keys have the provider's ids of the merchant. Else have ids that a merchant may have several of, such as an application's: they
	// count where two configurations have none of Keys in common.
	Keys, Else []string
	// Fetch fetches the value of the first of Keys from the provider. It is nil if the provider has no such call, and returns
	// gateway.ErrUnsupported if the credentials may not make it.
	Fetch func(ctx context.Context, s Settings) (string, error)
}

// IDs returns the ids that an account's keys contain.
func (m Merchant) IDs(params map[string]string) map[string]string {
	ids := map[string]string{}
	for _, key := range slices.Concat(m.Keys, m.Else) {
		if id := params[key]; id != "" {
			ids[key] = id
		}
	}
	return ids
}

// Differing returns the keys in which two configurations name different merchants. Comparable is false if they have no key in common.
func (m Merchant) Differing(a, b map[string]string) (keys []string, known bool) {
	for _, list := range [][]string{m.Keys, m.Else} {
		for _, key := range list {
			if a[key] == "" || b[key] == "" {
				continue
			}
			known = true
			if a[key] != b[key] {
				keys = append(keys, key)
			}
		}
		if known {
			return keys, true
		}
	}
	return nil, false
}

// FetchMerchant reads the id of a merchant from the response to a GET: the text at a path of members. It returns gateway.ErrUnsupported
// if the provider refuses the request.
func FetchMerchant(ctx context.Context, client *http.Client, url string, header http.Header, path ...string) (string, error) {
	a, err := Do(ctx, client, Request{Method: http.MethodGet, URL: url, Header: header})
	switch {
	case err != nil:
		return "", err
	case a.Status >= http.StatusInternalServerError, a.Status == http.StatusTooManyRequests:
		return "", fmt.Errorf("the provider responded with %d", a.Status)
	case a.Status != http.StatusOK:
		return "", fmt.Errorf("%w: the provider responded with %d", gateway.ErrUnsupported, a.Status)
	}
	var said any
	if err := a.Read(&said); err != nil {
		return "", err
	}
	for _, member := range path {
		object, _ := said.(map[string]any)
		said = object[member]
	}
	if id, _ := said.(string); id != "" {
		return id, nil
	}
	return "", fmt.Errorf("%w: the answer names no merchant", gateway.ErrUnsupported)
}
