// Package contract reads the contract, to check requests. The server checks requests by the document that it publishes,
// not by a copy of it in Go. It reads as much of OpenAPI 3.1 as that document uses.
package contract

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is an OpenAPI document.
type Document struct {
	Info struct {
		Title       string
		Summary     string
		Description string
	}
	Security   []map[string][]string
	Tags       []Tag
	Paths      Ordered[PathItem]
	Components struct {
		Schemas    Ordered[*Schema]
		Parameters Ordered[Parameter]
		Responses  Ordered[Response]
		Examples   Ordered[Example]
	}
}

// Tag is a chapter.
type Tag struct{ Name, Description string }

// PathItem holds the operations of a path.
type PathItem struct{ Get, Post, Patch, Delete *Operation }

// Operation is one call.
type Operation struct {
	ID          string `yaml:"operationId"` //nolint:tagliatelle // OpenAPI names its members
	Method      string `yaml:"-"`
	Path        string `yaml:"-"`
	Deciders    `yaml:",inline"`
	Tags        []string
	Summary     string
	Description string
	Security    *[]map[string][]string
	Parameters  []Parameter
	RequestBody *Body `yaml:"requestBody"` //nolint:tagliatelle // as above
	Responses   Ordered[Response]
	// CodeSamples are written by hand if a sample generated from the example of the body is not the best.
	CodeSamples []CodeSample `yaml:"x-codeSamples"` //nolint:tagliatelle // as OpenAPI writes extensions
}

// CodeSample is how a call is made in a language.
type CodeSample struct{ Lang, Source string }

// Parameter is a parameter of a call, or the name of one.
type Parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Schema      *Schema
	Example     string
	// Sampled has an optional parameter of the query in the samples, too.
	Sampled bool `yaml:"x-sampled"` //nolint:tagliatelle // as OpenAPI writes extensions
}

// Body is the body of a request.
type Body struct {
	Required bool
	// MaxBytes is how many bytes are read of it.
	MaxBytes int64 `yaml:"x-max-bytes"` //nolint:tagliatelle // as OpenAPI writes extensions
	Content  Ordered[Media]
}

// Response is a response, or the name of one.
type Response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Content     Ordered[Media]
}

// Media is one form of a body.
type Media struct {
	Schema   *Schema
	Examples Ordered[Example]
}

// Example is an example of a body, or the name of one.
type Example struct {
	Ref     string `yaml:"$ref"`
	Summary string
	Value   yaml.Node
}

// JSON is the first example in the order in which it is written; empty if there is none.
func (m Media) JSON(d *Document) string {
	if len(m.Examples) == 0 {
		return ""
	}
	e := m.Examples[0].Value
	if e.Ref != "" {
		e, _ = d.Components.Examples.Find(lastPart(e.Ref))
	}
	return literal(&e.Value)
}

// Load reads a document and resolves its references to parameters and responses.
func Load(text []byte) (*Document, error) {
	var d Document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	for _, path := range d.Paths {
		for method, op := range map[string]*Operation{"GET": path.Value.Get, "POST": path.Value.Post, "PATCH": path.Value.Patch, "DELETE": path.Value.Delete} {
			if op == nil {
				continue
			}
			op.Method, op.Path = method, path.Name
			if err := d.resolve(op); err != nil {
				return nil, err
			}
		}
	}
	return &d, nil
}

func (d *Document) resolve(op *Operation) error {
	if op.RequestBody != nil && op.RequestBody.MaxBytes <= 0 {
		return fmt.Errorf("contract: the body of %s has no x-max-bytes", op.ID)
	}
	for i, p := range op.Parameters {
		if p.Ref == "" {
			continue
		}
		named, ok := d.Components.Parameters.Find(lastPart(p.Ref))
		if !ok {
			return fmt.Errorf("contract: no %s", p.Ref)
		}
		op.Parameters[i] = named
	}
	for i, r := range op.Responses {
		if r.Value.Ref == "" {
			continue
		}
		named, ok := d.Components.Responses.Find(lastPart(r.Value.Ref))
		if !ok {
			return fmt.Errorf("contract: no %s", r.Value.Ref)
		}
		op.Responses[i].Value = named
	}
	return nil
}

func lastPart(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Operations lists the calls in the order of the document.
func (d *Document) Operations() []*Operation {
	var all []*Operation
	for _, path := range d.Paths {
		for _, op := range []*Operation{path.Value.Post, path.Value.Get, path.Value.Patch, path.Value.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// Tagged lists the calls of a chapter.
func (d *Document) Tagged(tag string) []*Operation {
	var of []*Operation
	for _, op := range d.Operations() {
		if slices.Contains(op.Tags, tag) {
			of = append(of, op)
		}
	}
	return of
}

// Chapter is the tag that a call stands under.
func (op *Operation) Chapter() string { return op.Tags[0] }

// Secured reports whether a call needs a token.
func (d *Document) Secured(op *Operation) bool {
	if op.Security != nil {
		return len(*op.Security) > 0
	}
	return len(d.Security) > 0
}

// Accepts reports whether a scheme of its own opens the call, beside or in place
// of the document's.
func (op *Operation) Accepts(scheme string) bool {
	return op.Security != nil && slices.ContainsFunc(*op.Security, func(s map[string][]string) bool {
		_, ok := s[scheme]
		return ok
	})
}

// Has reports whether the call has a parameter.
func (op *Operation) Has(in, name string) bool {
	_, has := op.Parameter(in, name)
	return has
}

// Parameter returns the call's parameter of this name; false if the call has no such parameter.
func (op *Operation) Parameter(in, name string) (Parameter, bool) {
	i := slices.IndexFunc(op.Parameters, func(p Parameter) bool { return p.In == in && p.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return op.Parameters[i], true
}

// JSON is the schema of the call's JSON body; nil if it takes none.
func (op *Operation) JSON() *Schema {
	if op.RequestBody == nil {
		return nil
	}
	media, _ := op.RequestBody.Content.Find("application/json")
	return media.Schema
}
