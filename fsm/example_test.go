package fsm_test

import (
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
)

func ExampleNext() {
	state := fsm.Requested
	for _, news := range []fsm.News{fsm.NewsActionRequired, fsm.NewsSucceeded, fsm.NewsSucceeded, fsm.NewsFailed} {
		step, err := fsm.Next(state, news)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s -> %s (%s)\n", news, step.From, step.To, step.Verdict)
		state = step.To
	}
	// Output:
	// action_required: requested -> awaiting_customer (applied)
	// succeeded: awaiting_customer -> succeeded (applied)
	// succeeded: succeeded -> succeeded (repeat)
	// failed: succeeded -> succeeded (stale)
}

// A success after the failure leaves the attempt failed: the money is there, and
// a person must decide what becomes of it.
func ExampleNext_conflict() {
	step, err := fsm.Next(fsm.Failed, fsm.NewsSucceeded)
	fmt.Println(step.To, step.Verdict, step.Moved(), err)
	// Output: failed conflict false <nil>
}

func ExampleNextRefund() {
	paid, err := fsm.NextRefund(fsm.RefundPending, fsm.NewsSucceeded)
	fmt.Println(paid.To, paid.Verdict, paid.Moved(), err)
	// The provider took back what it had paid: a fact, but not another past.
	taken, err := fsm.NextRefund(paid.To, fsm.NewsFailed)
	fmt.Println(taken.To, taken.Verdict, taken.Moved(), err)
	// Output:
	// succeeded applied true <nil>
	// succeeded applied false <nil>
}

func ExampleTable() {
	for _, row := range fsm.Table() {
		if row.Verdict == fsm.Conflict {
			fmt.Println(row.From, row.News, row.To)
		}
	}
	// Output: failed succeeded failed
}

func ExampleRefundTable() {
	for _, row := range fsm.RefundTable() {
		if row.Moved() {
			fmt.Println(row.From, row.News, row.To)
		}
	}
	// Output:
	// pending succeeded succeeded
	// pending failed failed
}

func ExampleMermaid() {
	for line := range strings.Lines(fsm.Mermaid()) {
		if strings.Contains(line, "pending -->") {
			fmt.Print(line)
		}
	}
	// Output:
	// pending --> succeeded : succeeded
	//     pending --> failed : failed
}

func ExampleRefundMermaid() {
	fmt.Print(fsm.RefundMermaid())
	// Output:
	// stateDiagram-v2
	//     [*] --> pending
	//     pending --> succeeded : succeeded
	//     pending --> failed : failed
	//     succeeded --> [*]
	//     failed --> [*]
}

func ExampleState_Status() {
	for _, state := range fsm.States() {
		fmt.Println(state, state.Status(), state.Final())
	}
	// Output:
	// requested pending false
	// outcome_unknown pending false
	// processing pending false
	// awaiting_customer pending false
	// authorized pending false
	// succeeded succeeded true
	// failed failed true
}
