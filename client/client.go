package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/client/api"
)

// Options configure a Client. The zero value is for a service on the internet.
type Options struct {
	// HTTP sends the requests, each try by itself; nil means one with a limit of 90 seconds, which is longer than a
	// long poll.
	HTTP *http.Client
	// Tries is how often a request is sent at most; 0 means 8.
	Tries uint
	// GiveUp is how long tries are begun; 0 means 2 minutes. The context's end counts as well.
	GiveUp time.Duration
	// FirstPause is the pause before the second try, which doubles up to MaxPause, each with up to half of it more or
	// less by chance; 0 means 200 ms and 10 s. A response's Retry-After goes before it.
	FirstPause, MaxPause time.Duration
}

// Client calls one paylatch with one token. It is safe for concurrent use.
type Client struct {
	// API is the generated client, for calls that have no method here.
	API *api.ClientWithResponses

	token string
}

// New returns a client of the paylatch at a URL, such as https://pay.example. The token is a JWT or an API key,
// of role service for most calls here.
func New(baseURL, token string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("client: the base URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("client: the base URL %q must begin with http:// or https:// and a host", baseURL)
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 90 * time.Second}
	}
	o.Tries, o.GiveUp = cmp.Or(o.Tries, 8), cmp.Or(o.GiveUp, 2*time.Minute)
	o.FirstPause, o.MaxPause = cmp.Or(o.FirstPause, 200*time.Millisecond), cmp.Or(o.MaxPause, 10*time.Second)
	c := &Client{token: token}
	c.API, err = api.NewClientWithResponses(baseURL, api.WithHTTPClient(&sender{o}), api.WithRequestEditorFn(c.authorize))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return c, nil
}

func (c *Client) authorize(_ context.Context, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+c.token)
	return nil
}
