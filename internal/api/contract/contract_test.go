package contract_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	api "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

func document(t *testing.T) *contract.Document {
	t.Helper()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	return d
}

func TestEveryRequestIsBounded(t *testing.T) {
	t.Parallel()
	d := document(t)
	checked := 0
	for _, op := range d.Operations() {
		if s := op.JSON(); s != nil {
			bounded(t, d, s, op.ID)
			checked++
		}
	}
	require.Positive(t, checked)
}

// bounded requires the preconditions of the check: closed objects, and limits for all values that a caller could make large.
func bounded(t *testing.T, d *contract.Document, s *contract.Schema, at string) {
	t.Helper()
	if s.Ref != "" {
		named, ok := d.Components.Schemas.Find(s.Name())
		require.True(t, ok, at)
		s = named
	}
	require.Len(t, slices.DeleteFunc(slices.Clone(s.Type), func(name string) bool { return name == "null" }), 1, at)
	switch s.Type[0] {
	case "object":
		require.True(t, s.Additional.Forbidden || s.MaxBytes != nil || s.MaxProperties != nil && s.PropertyNames != nil, at)
		for _, m := range s.Properties {
			bounded(t, d, m.Value, at+"."+m.Name)
		}
		if s.Additional.Schema != nil {
			bounded(t, d, s.Additional.Schema, at+".*")
			bounded(t, d, s.PropertyNames, at+".*")
		}
	case "array":
		require.NotNil(t, s.MaxItems, at)
		bounded(t, d, s.Items, at+".*")
	case "string":
		require.True(t, s.MaxLength != nil || len(s.Enum) > 0 || s.Pattern.Regexp != nil, at)
		require.Equal(t, s.Pattern.Regexp != nil || s.Format != "", s.Hint != "", at)
	case "integer":
		require.NotNil(t, s.Minimum, at)
		require.NotNil(t, s.Maximum, at)
	case "boolean":
	default:
		require.Fail(t, "no such type in requests so far", "%s: %s", at, s.Type[0])
	}
}

// Also a call that reads nothing else may be refused for its query, its token or its On-Behalf-Of.
func TestEveryCallWithATokenNamesWhatThatMayMeet(t *testing.T) {
	t.Parallel()
	d := document(t)
	checked := 0
	for _, op := range d.Operations() {
		if !d.Secured(op) {
			continue
		}
		for _, status := range []string{"400", "401", "403", "422", "500", "503"} {
			_, named := op.Responses.Find(status)
			require.True(t, named, "%s %s", op.ID, status)
		}
		checked++
	}
	require.Positive(t, checked)
}

// The gate counts the refused bodies of every call with a token, so each of them may be told to wait.
func TestEveryCallWithABodyNamesItsLimit(t *testing.T) {
	t.Parallel()
	d := document(t)
	checked := 0
	for _, op := range d.Operations() {
		if !d.Secured(op) || op.RequestBody == nil {
			continue
		}
		_, named := op.Responses.Find("429")
		require.True(t, named, op.ID)
		checked++
	}
	require.Positive(t, checked)
}

func TestMistakesAreSentences(t *testing.T) {
	t.Parallel()
	d := document(t)
	order, _ := d.Components.Schemas.Find("CreateOrder")
	pay, _ := d.Components.Schemas.Find("Pay")
	for _, c := range []struct {
		schema *contract.Schema
		body   string
		want   contract.FieldError
	}{
		{order, `{"currency":"EUR"}`, contract.FieldError{"amount", "is required"}},
		{order, `{"currency":"EUR","amount":"1"}`, contract.FieldError{"amount", "must be a whole number in plain digits from 1 to 1000000000000"}},
		{order, `{"currency":"Eur","amount":1}`, contract.FieldError{"currency", "must be an ISO 4217 code in upper case"}},
		{order, `{"currency":1,"amount":1}`, contract.FieldError{"currency", "must be a string"}},
		{order, `{"currency":"EUR","amount":1,"order_id":""}`, contract.FieldError{"order_id", "must have 1 to 128 characters"}},
		{order, `{"currency":"EUR","amount":1,"order_id":"/"}`, contract.FieldError{"order_id", "must consist of A-Z a-z 0-9 - _ . : ~"}},
		{order, `{"currency":"EUR","amount":1,"description":"\u0000"}`, contract.FieldError{"description", "must not contain U+0000"}},
		{order, `{"currency":"EUR","amount":1,"metadata":{"":""}}`, contract.FieldError{"metadata.", "must have a name that has 1 to 40 characters"}},
		{pay, `{"payment_method":null}`, contract.FieldError{"payment_method", "must be an object"}},
		{pay, `{"payment_method":{"token":"t"},"capture":""}`, contract.FieldError{"capture", "must be one of automatic, manual, manual_multiple"}},
		{pay, `{"payment_method":{"token":"t"},"return_url":"ftp://a"}`, contract.FieldError{"return_url", "must be an absolute http or https address, or an app's address"}},
	} {
		value, err := contract.ParseJSON([]byte(c.body))
		require.NoError(t, err)
		found := d.Check(c.schema, value)
		require.Equal(t, []contract.FieldError{c.want}, found.Invalid, c.body)
		require.Empty(t, found.Unknown)
	}
}

func TestUnknownMembersAreNamed(t *testing.T) {
	t.Parallel()
	d := document(t)
	pay, _ := d.Components.Schemas.Find("Pay")
	found := d.Check(pay, map[string]any{"payment_method": map[string]any{"token": "t", "a\nb": nil}, "Account": "x"})
	require.Equal(t, []string{"Account", `payment_method."a\nb"`}, found.Unknown)
}

func TestBrokenDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		":", "paths: []", "paths: {/a: {get: {parameters: [{$ref: '#/components/parameters/None'}]}}}",
		"paths: {/a: {get: {responses: {'200': {$ref: '#/components/responses/None'}}}}}",
		"components: {schemas: {A: {pattern: '('}}}", "components: {schemas: {A: {type: {}}}}", "components: {schemas: {A: {additionalProperties: []}}}",
	} {
		_, err := contract.Load([]byte(text))
		require.Error(t, err, text)
	}
}
