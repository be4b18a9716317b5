package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/api/contract"
)

// SamplesOf writes samples of calls with curl, in Go and in Node. They are generated from the contract: the path, the
// examples of the parameters and the body, and the roles that may call. A sample in the contract itself (x-codeSamples)
// replaces the generated one.
//
// The calls of providers, which are signed, have no samples.

// The languages, in the order in which they are shown.
const (
	Curl = "curl"
	Go   = "Go"
	Node = "Node"
)

// Sample is how a call is made in a language.
type Sample struct{ Lang, Text string }

// SamplesOf returns the samples of a call; none for the calls that providers make. In curl the variables API, TOKEN and STAFF
// stand for the address and for tokens of a backend and of staff; Go and Node have base and token.
func SamplesOf(d *contract.Document, op *contract.Operation) []Sample {
	if slices.Contains(op.Tags, "webhooks") {
		return nil
	}
	c := newCall(d, op)
	all := []Sample{{Curl, c.curl()}, {Go, c.golang()}, {Node, c.node()}}
	for i := range all {
		for _, own := range op.CodeSamples {
			if own.Lang == all[i].Lang {
				all[i].Text = strings.TrimSpace(own.Source)
			}
		}
	}
	return all
}

// SampleResponse returns the example of the response to a call that succeeds, as indented JSON; empty if there is none.
func SampleResponse(d *contract.Document, op *contract.Operation) string {
	for _, r := range op.Responses {
		if media, ok := r.Value.Content.Find("application/json"); ok && strings.HasPrefix(r.Name, "2") {
			return indented(media.JSON(d))
		}
	}
	return ""
}

// call is a call with the examples filled in.
type call struct {
	method, path string
	// bearer is the variable of the token; empty for a call that needs none.
	bearer  string
	headers []header
	body    string
	streams bool
}

type header struct{ name, value string }

func newCall(d *contract.Document, op *contract.Operation) call {
	c := call{method: op.Method, path: pathOf(op), bearer: bearerOf(d, op), streams: streams(op)}
	command := op.Has("header", "Idempotency-Key")
	for _, p := range op.Parameters {
		if p.In == "header" && command && (p.Name == "Idempotency-Key" || p.Name == "On-Behalf-Of") {
			c.headers = append(c.headers, header{p.Name, p.Example})
		}
	}
	if op.RequestBody != nil {
		media, _ := op.RequestBody.Content.Find("application/json")
		c.body = media.JSON(d)
	}
	if c.body != "" {
		c.headers = append(c.headers, header{"Content-Type", "application/json"})
	}
	return c
}

// pathOf is the path and the query with the parameters' examples.
func pathOf(op *contract.Operation) string {
	path, query := op.Path, []string{}
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", p.Example)
		case p.In == "query" && (p.Required || p.Sampled):
			query = append(query, p.Name+"="+url.QueryEscape(p.Example))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// bearerOf is staff's token where a backend's does not open the call.
func bearerOf(d *contract.Document, op *contract.Operation) string {
	switch {
	case !d.Secured(op):
		return ""
	case isForStaff(op):
		return "STAFF"
	}
	return "TOKEN"
}

func streams(op *contract.Operation) bool {
	for _, r := range op.Responses {
		if _, ok := r.Value.Content.Find("text/event-stream"); ok {
			return true
		}
	}
	return false
}

// reads reports whether the method is GET, the default of clients.
func (c call) reads() bool { return c.method == http.MethodGet }
