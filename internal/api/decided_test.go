package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// member is a member of a command's body, with those that it stands in.
type member struct {
	op   *contract.Operation
	path []string
	// schemas has the member's own last.
	schemas []*contract.Schema
}

// field is the member as a problem names it: the first of a list has the number 0.
func (m member) field() string { return strings.Join(m.path, ".") }

func (m member) String() string { return m.op.ID + " " + m.field() }

// body is the smallest body with the member, which has a value that decides something.
func (m member) body(t *testing.T, doc *contract.Document) string {
	t.Helper()
	text, err := json.Marshal(with(t, doc, m.op.JSON(), m.path))
	require.NoError(t, err)
	return string(text)
}

// mayBeSetBy reports whether the contract lets a role set the member; open, whether it lets it make the call.
func (m member) mayBeSetBy(role payment.Role, rights []authz.Right) (may, open bool) {
	decides := func(d contract.Deciders) bool {
		return slices.Contains(d.Roles, string(role)) || role == payment.RoleCustomer && slices.ContainsFunc(d.CustomersMay, func(right string) bool {
			return slices.Contains(rights, authz.Right(right))
		})
	}
	open = decides(m.op.Deciders)
	closed := slices.ContainsFunc(m.schemas, func(s *contract.Schema) bool { return !decides(s.Deciders) })
	return open && !closed, open
}

// members lists all members of all bodies of the contract.
func members(t *testing.T, doc *contract.Document) (all []member) {
	t.Helper()
	for _, op := range doc.Operations() {
		if op.JSON() != nil {
			all = append(all, membersOf(doc, member{op: op}, op.JSON())...)
		}
	}
	require.Greater(t, len(all), 100)
	return all
}

func membersOf(doc *contract.Document, in member, s *contract.Schema) (all []member) {
	s = doc.Resolved(s)
	if s.Items != nil {
		return membersOf(doc, member{in.op, append(slices.Clone(in.path), "0"), in.schemas}, s.Items)
	}
	for _, p := range s.Properties {
		m := member{in.op, append(slices.Clone(in.path), p.Name), append(slices.Clone(in.schemas), p.Value)}
		all = append(append(all, m), membersOf(doc, m, p.Value)...)
	}
	return all
}

// with is the smallest value of a schema that has the member of a path.
func with(t *testing.T, doc *contract.Document, s *contract.Schema, path []string) any {
	t.Helper()
	own := doc.Resolved(s)
	switch own.Type[0] {
	case "array":
		if len(path) == 0 {
			return []any{with(t, doc, own.Items, nil)}
		}
		return []any{with(t, doc, own.Items, path[1:])}
	case "object":
		if own.Additional.Schema != nil || !own.Additional.Forbidden {
			return map[string]any{"a": "b"}
		}
		value := map[string]any{}
		for _, p := range own.Properties {
			switch {
			case len(path) > 0 && p.Name == path[0] && p.Name == "account":
				value[p.Name] = "sandbox" // a customer may name the default one
			case len(path) > 0 && p.Name == path[0] && p.Name == "capture":
				value[p.Name] = "manual" // the right is for that one
			case len(path) > 0 && p.Name == path[0]:
				value[p.Name] = with(t, doc, p.Value, path[1:])
			case own.Requires(p.Name):
				value[p.Name] = with(t, doc, p.Value, nil)
			}
		}
		return value
	case "boolean":
		return true
	case "integer":
		return json.Number(strconv.FormatInt(max(1, *own.Minimum), 10))
	}
	if own.Format == "date-time" {
		return now // the use cases check it
	}
	words := slices.Clone(own.Enum)
	slices.Reverse(words) // the first is the default, where there is one
	for _, text := range append(words, texts()...) {
		if found := doc.Check(own, text); len(found.Invalid) == 0 {
			return text
		}
	}
	require.Fail(t, "no text fits", "%+v", own)
	return nil
}

// texts are values for the contract's patterns and formats. The first is the user.
func texts() []string {
	return []string{
		"u1", "EUR", "DE", "de-DE", "1", "0.5", "a@shop.example", "+4930123456", "203.0.113.9", "https://shop.example/back", "commodity",
	}
}

// Each member of each body has a role that may set it.
func TestDecidedBy_contract(t *testing.T) {
	t.Parallel()
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	roles := []string{"customer", "service", "support", "admin"}
	rights := map[string]bool{}
	known := func(d contract.Deciders, of string) {
		require.NotEmpty(t, d.Roles, "%s has no x-decided-by", of)
		require.Subset(t, roles, d.Roles, of)
		for _, right := range d.CustomersMay {
			rights[right] = true
		}
	}
	for _, op := range doc.Operations() {
		if op.JSON() != nil {
			known(op.Deciders, op.ID)
		}
	}
	for _, m := range members(t, doc) {
		known(m.schemas[len(m.schemas)-1].Deciders, m.String())
	}
	require.ElementsMatch(t, []string{"create_order", "capture_manual", "confirm", "confirm_part"}, slices.Collect(maps.Keys(rights)),
		"cancel_hold depends on the attempt")
}

// Each role sends each member of each body. A role that may not set a member gets a refusal with the member's name, before any
// execution.
func TestDecidedBy(t *testing.T) {
	t.Parallel()
	t.Run("by_default", func(t *testing.T) {
		t.Parallel()
		decidedBy(t, nil, payment.RoleCustomer, payment.RoleService, payment.RoleSupport, payment.RoleAdmin)
	})
	t.Run("customers_with_all_rights", func(t *testing.T) {
		t.Parallel()
		decidedBy(t, []authz.Right{authz.CreateOrder, authz.CaptureManual, authz.CancelHold, authz.Confirm, authz.ConfirmPart}, payment.RoleCustomer)
	})
}

func decidedBy(t *testing.T, rights []authz.Right, roles ...payment.Role) {
	t.Helper()
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	refusing, taking := refusingBench(t, rights), takingBench(t, rights)
	sent := map[int]int{}
	for _, m := range members(t, doc) {
		body := m.body(t, doc)
		for _, role := range roles {
			b := taking
			may, open := m.mayBeSetBy(role, rights)
			if !may {
				b = refusing
			}
			before := b.payments.calls
			got := b.sendAs(role, m.op, body)
			sent[got.StatusCode]++
			of := fmt.Sprintf("%s: %s %s: %s", role, m, body, got.text)
			staff := (m.op.Tags[0] == "support" || m.op.Tags[0] == "keys") && !open
			switch {
			case may:
				require.NotEqual(t, http.StatusForbidden, got.StatusCode, of)
				require.NotEqual(t, http.StatusInternalServerError, got.StatusCode, of)
				continue
			case open && m.schemas[0].RefusedAs == "validation-failed":
				got.is(t, http.StatusUnprocessableEntity, "validation-failed")
			default:
				got.is(t, http.StatusForbidden, "forbidden")
			}
			require.Equal(t, before, b.payments.calls, of)
			require.Empty(t, got.Header.Get("Idempotency-Result"), of)
			if !staff { // a call for staff is refused to others before its body is read
				require.True(t, slices.ContainsFunc(got.problem(t).Errors, func(e gen.FieldError) bool {
					return e.Field == m.field() || strings.HasPrefix(m.field(), e.Field+".") || !open && e.Field == m.path[0]
				}), of)
			}
		}
	}
	t.Log("answers by status:", sent)
}

// refusingBench counts the commands that come through. The use cases that refuse staff are the real ones.
func refusingBench(t *testing.T, rights []authz.Right) *bench {
	t.Helper()
	service := support.New(support.Options{Store: onlyDeeds{}})
	return newBench(t, func(o *api.Options) {
		o.CustomersMay, o.Support = rights, service
		o.Jobs, o.RefundRequests, o.Keys = bulk.New(payment.OnlyCell, nil, service), refundrequest.New(nil, nil, service), &keyDesk{}
	})
}

// takingBench has the real commands, on a store that has nothing.
func takingBench(t *testing.T, rights []authz.Right) *bench {
	t.Helper()
	d := &desk{money: &payment.Money{Minor: 1999, Currency: "EUR"}}
	b := newBench(t, func(o *api.Options) {
		useCasesFor(o, rights)
		o.CustomersMay = rights
		o.Support, o.Finder, o.Jobs, o.Worklist, o.RefundRequests, o.Overview, o.Endpoints = d, d, d, d, d, d, &endpoints{}
		o.Events, o.Keys = &feed{}, &keyDesk{}
	})
	b.invented = true
	return b
}

// sendAs sends a command of a role.
func (b *bench) sendAs(role payment.Role, op *contract.Operation, body string) answer {
	b.t.Helper()
	path := strings.NewReplacer("{order_id}", "A-1", "{payment_attempt_id}", attemptID.String(), "{endpoint}", "shop").Replace(op.Path)
	if before, after, found := strings.Cut(path, "{"); found {
		_, after, _ = strings.Cut(after, "}")
		path = before + eventID.String() + after
	}
	headers := []string{"Idempotency-Key: key-00000001"}
	switch role {
	case payment.RoleCustomer:
		headers = append(headers, "Authorization: Bearer u1")
	case payment.RoleService:
		headers = append(headers, "Authorization: Bearer service-1", "On-Behalf-Of: u1")
	case payment.RoleSupport, payment.RoleAdmin:
		headers = append(headers, "Authorization: Bearer "+string(role))
	}
	return b.send(op.Method, path, body, headers...)
}

// Every role may send a value that decides nothing. The right to set a reference depends on its value.
func TestDecidedBy_value(t *testing.T) {
	t.Parallel()
	b := takingBench(t, nil)
	pay := func(members string) answer {
		return b.command("/v1/orders/A-1/pay", `{"payment_method":{"token":"tok_success"`+members+`}`, "Authorization: Bearer u1", "On-Behalf-Of: -")
	}
	for _, members := range []string{`,"stored":false}`, `},"initiator":"customer"`, `},"provider_data":{}`, `},"customer":{"reference":"u1"}`} {
		pay(members).is(t, 404, "not-found")
	}
	for members, field := range map[string]string{
		`,"stored":true}`: "payment_method.stored", `},"initiator":"merchant"`: "initiator", `},"provider_data":{"a":1}`: "provider_data",
		`},"customer":{"reference":"u2"}`: "customer.reference", `},"capture":"automatic"`: "capture", `},"capture":"manual"`: "capture",
		`},"supersedes":"` + attemptID.String() + `"`: "supersedes",
	} {
		p := pay(members).is(t, 403, "forbidden")
		require.Equal(t, []gen.FieldError{{Field: field, Message: "must be set by the role service"}}, p.Errors)
		require.Equal(t, "Use a token with the role service, or leave out "+field+".", p.Detail)
	}
}
