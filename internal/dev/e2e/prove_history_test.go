package e2e_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// The kinds of calls.
const (
	callOrder, callPay, callRead, callReadOrder = "order", "pay", "read", "read-order"
	callCancel, callCancelOrder                 = "cancel", "cancel-order"
	callRefund, callConfirm                     = "refunds", "confirm"
)

// clientCall is what one client did to an order, from the first time that it sent the request until the answer.
type clientCall struct {
	Client  int         `json:"client"`
	OrderID string      `json:"order_id"`
	Kind    string      `json:"kind"`
	Key     string      `json:"key,omitempty"`
	Token   string      `json:"token,omitempty"`
	Attempt string      `json:"attempt,omitempty"`
	Sends   int         `json:"sends"`
	Status  int         `json:"status"`
	Code    string      `json:"code,omitempty"`
	Unknown bool        `json:"unknown,omitempty"`
	Seen    attemptView `json:"attempt_view,omitzero"`
	Order   *orderView  `json:"order,omitempty"`
	// Late are the keys of the order's pays that may be paid after they have failed.
	Late []string `json:"late,omitempty"`
	// Call and Return are nanoseconds since the beginning.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
}

// attemptView is an attempt in an answer.
type attemptView struct {
	ID       string `json:"payment_attempt_id"`
	Key      string `json:"client_request_id"`
	Status   string `json:"status"`
	Version  int    `json:"version"`
	Captured int64  `json:"amount_captured"`
	Refunded int64  `json:"amount_refunded"`
}

// orderView is an order in an answer.
type orderView struct {
	Status   string        `json:"status"`
	Attempts []attemptView `json:"attempts"`
}

// happening is any other line of the history: a fault, a webhook, an acknowledgement, an event.
type happening struct {
	At     int64  `json:"at"`
	Kind   string `json:"kind"`
	Target string `json:"target,omitempty"`
	Text   string `json:"text,omitempty"`
}

// history is all that happened, in memory and in a file of JSON lines.
type history struct {
	dir    string
	begun  time.Time
	sent   atomic.Int64
	mu     sync.Mutex
	file   *os.File
	lines  *bufio.Writer
	orders map[string][]*clientCall
	counts map[string]int
	wrongs []violation
}

// violation is a check that failed.
type violation struct {
	check, text string
	after       time.Duration
}

func newHistory(t *testing.T, dir string) *history {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "history.ndjson"))
	require.NoError(t, err)
	return &history{dir: dir, begun: time.Now(), file: file, lines: bufio.NewWriter(file), orders: map[string][]*clientCall{}, counts: map[string]int{}}
}

func (h *history) now() int64 { return int64(time.Since(h.begun)) }

func (h *history) write(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // it is of this package
	}
	_, _ = h.lines.Write(append(text, '\n'))
}

// note writes a happening.
func (h *history) note(kind, target, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[kind]++
	h.write(happening{h.now(), kind, target, fmt.Sprintf(format, args...)})
}

// count counts without a line.
func (h *history) count(kind string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[kind]++
}

func (h *history) counted(kind string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts[kind]
}

// kinds are the counts of faults by kind.
func (h *history) kinds() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	kinds := map[string]int{}
	for name, n := range h.counts {
		if kind, ok := strings.CutPrefix(name, "fault: "); ok {
			kinds[kind] = n
		}
	}
	return kinds
}

// table is the counts in lines, the most frequent kind of fault first.
func (h *history) table() string {
	kinds := h.kinds()
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(kinds[b]-kinds[a], strings.Compare(a, b)) })
	var text strings.Builder
	line := func(name string, n int) { fmt.Fprintf(&text, "\n%8d  %s", n, name) }
	line("kills of the program", kinds[killedReplica])
	line("kills of PostgreSQL", kinds[killedPostgres])
	for _, name := range names {
		if name != killedReplica && name != killedPostgres {
			line(name, kinds[name])
		}
	}
	line(refusedByDisk, h.counted(refusedByDisk))
	line("faults", h.counted("fault"))
	line("requests", int(h.sent.Load()))
	line("orders", h.counted("orders"))
	line("violations", len(h.violations()))
	return text.String()
}

// wrong notes a violation.
func (h *history) wrong(check, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := violation{check, fmt.Sprintf(format, args...), time.Since(h.begun)}
	h.wrongs = append(h.wrongs, v)
	h.write(happening{h.now(), "violation", check, v.text})
}

func (h *history) violations() []violation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.wrongs)
}

// keep adds a call.
func (h *history) keep(d *clientCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.orders[d.OrderID] = append(h.orders[d.OrderID], d)
	h.write(d)
}

// done sets a call's answer.
func (h *history) done(d *clientCall, a answer) {
	d.Return = h.now()
	d.Status = a.status
	d.Unknown = a.err != nil || a.status >= http.StatusInternalServerError
	switch {
	case d.Unknown:
	case a.status >= http.StatusBadRequest:
		p := problemView{}
		_ = json.Unmarshal(a.text, &p)
		d.Code, d.Seen = p.Code, p.Attempt
	case d.Kind == callReadOrder, d.Kind == callCancelOrder:
		d.Order = &orderView{}
		_ = json.Unmarshal(a.text, d.Order)
	case d.Kind != callOrder && d.Kind != callRefund:
		_ = json.Unmarshal(a.text, &d.Seen)
	}
	if d.Unknown && (d.Kind == callRead || d.Kind == callReadOrder) {
		return // it has no effect
	}
	h.keep(d)
}

type problemView struct {
	Code    string      `json:"code"`
	Attempt attemptView `json:"attempt"`
}

// settle forgets the orders of a round, which have been checked.
func (h *history) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.orders)
	_ = h.lines.Flush()
}

// linearizable checks each order's history against the specification, and draws those that are not.
func (h *history) linearizable() (orders int) {
	h.mu.Lock()
	all := make(map[string][]*clientCall, len(h.orders))
	for id, calls := range h.orders {
		all[id] = slices.Clone(calls)
	}
	h.mu.Unlock()
	model := spec.ToModel()
	for id, calls := range all {
		var late []string
		for _, d := range calls {
			if d.Token == "tok_late_success" || d.Token == "tok_wrong_amount" {
				late = append(late, d.Key)
			}
		}
		var ops []porcupine.Operation
		for _, d := range calls {
			d.Late = late
			ops = append(ops, d.operations()...)
		}
		result, info := porcupine.CheckOperationsVerbose(model, ops, 20*time.Second)
		switch result {
		case porcupine.Illegal:
			picture := filepath.Join(h.dir, id+".html")
			err := porcupine.VisualizePath(model, info, picture)
			h.wrong("linearizable", "order %s: no order of its %d calls explains their answers: %s (%v)", id, len(calls), picture, err)
		case porcupine.Unknown:
			h.count("undecided")
		case porcupine.Ok:
		}
	}
	return len(all)
}

// operations are the call's effects. One without an answer may take effect at any later time.
func (d *clientCall) operations() []porcupine.Operation {
	until := d.Return
	if d.Unknown {
		until = math.MaxInt64
	}
	var all []porcupine.Operation
	for _, e := range d.effects() {
		all = append(all, porcupine.Operation{ClientId: d.Client, Input: e, Output: e, Call: d.Call, Return: until})
	}
	return all
}
