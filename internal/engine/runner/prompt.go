package runner

import (
	"context"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
)

// promptAtOnce is how many operations a process executes at once right after the commit that created them. promptMost is
// how many may wait for that. The reconciler finds further operations a moment later.
const (
	promptAtOnce = 8
	promptMost   = 256
)

// Prompt carries out operations right after the commit that wanted them, in the background: the cancel of a second payment or
// of a sibling must not wait for the reconciler while a customer is at the bank's page. It is safe for concurrent use.
type Prompt struct {
	execute func(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error)

	mu      sync.Mutex
	waiting []payment.OperationName
	running int
	idle    *sync.Cond
	closed  bool
}

// NewPrompt returns a Prompt that calls execute, as Runner.Execute does. It drops the errors of execute: the reconciler
// tries again.
func NewPrompt(execute func(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error)) *Prompt {
	p := &Prompt{execute: execute}
	p.idle = sync.NewCond(&p.mu)
	return p
}

// Wanted has operations carried out that a commit has just wanted. It does not wait for them.
func (p *Prompt) Wanted(names []payment.OperationName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		if p.closed || len(p.waiting) >= promptMost {
			return
		}
		p.waiting = append(p.waiting, name)
		if p.running < promptAtOnce {
			p.running++
			go p.work()
		}
	}
}

// Close waits for the running operations, and accepts no more.
func (p *Prompt) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.waiting = true, nil
	for p.running > 0 {
		p.idle.Wait()
	}
}

// work executes the waiting operations until the queue is empty.
func (p *Prompt) work() {
	for {
		p.mu.Lock()
		if len(p.waiting) == 0 {
			p.running--
			p.idle.Broadcast()
			p.mu.Unlock()
			return
		}
		name := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.mu.Unlock()
		p.one(name)
	}
}

// one executes an operation. It drops a panic: the reconciler reports it.
func (p *Prompt) one(name payment.OperationName) {
	defer func() { _ = recover() }()
	_, _ = p.execute(context.Background(), name, payment.Cause{Kind: payment.CauseCheck, ID: "prompt"})
}
