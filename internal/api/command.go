package api

import (
	"strings"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/contract"
)

// CommandNames returns the operations of the contract that take a key, by method and route.
func CommandNames(doc *contract.Document) map[string]string {
	commands := make(map[string]string)
	for _, op := range doc.Operations() {
		if op.Has("header", idempotency.HeaderKey) {
			commands[op.Method+" "+RouteOf(op.Path)] = op.ID
		}
	}
	return commands
}

// Command returns the request in the form in which a repeat is recognized. The ids are the ids
// in the path, decoded and in their canonical form.
func (x *Exchange) Command(ids ...string) idempotency.Request {
	r, route := x.context.Request(), x.context.Path()
	x.Operation, x.Commanded = x.service.Commands[r.Method+" "+route], x.service.Now()
	return idempotency.Request{
		User:     string(x.Actor.User()),
		Endpoint: r.Method + " " + addressed(route, ids),
		Key:      x.Key,
		Hash:     idempotency.HashRequest(r.Method, route, ids, r.URL.Query(), x.Body),
		Refusal: func(err error) idempotency.Response {
			x.refused = true
			problems := x.service.Problems
			return problems.Response(problems.Document(x.RequestID, err))
		},
	}
}

// addressed is a route with its ids; it is the same for all spellings of a path.
func addressed(route string, ids []string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i], ids = ids[0], ids[1:]
		}
	}
	return strings.Join(segments, "/")
}
