package fsm_test

import (
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
)

func ExampleNext() {
	state := fsm.Requested
	for _, news := range []fsm.Event{fsm.EventActionRequired, fsm.EventSucceeded, fsm.EventSucceeded, fsm.EventFailed} {
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
// what becomes of it needs review.
func ExampleNext_conflict() {
	step, err := fsm.Next(fsm.Failed, fsm.EventSucceeded)
	fmt.Println(step.To, step.Verdict, step.Moved(), err)
	// Output: failed conflict false <nil>
}

func ExampleNextRefund() {
	paid, err := fsm.NextRefund(fsm.RefundPending, fsm.EventSucceeded)
	fmt.Println(paid.To, paid.Verdict, paid.Moved(), err)
	// The provider undid the refund: a fact, but not another past.
	taken, err := fsm.NextRefund(paid.To, fsm.EventFailed)
	fmt.Println(taken.To, taken.Verdict, taken.Moved(), err)
	// Output:
	// succeeded applied true <nil>
	// succeeded applied false <nil>
}

// A charge with a lost response is looked up, found, and done once it is paid.
func ExampleNextOperation() {
	state := fsm.OperationWanted
	for _, event := range []fsm.OperationEvent{fsm.OperationSend, fsm.OperationLose, fsm.OperationAsk, fsm.OperationAccept, fsm.OperationFinish} {
		step, err := fsm.NextOperation(state, event)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s -> %s (%s)\n", event, step.From, step.To, step.Verdict)
		state = step.To
	}
	// Output:
	// send: wanted -> sent (applied)
	// lose: sent -> unknown (applied)
	// ask: unknown -> unknown (applied)
	// accept: unknown -> accepted (applied)
	// finish: accepted -> done (applied)
}

// A lost dispute that is won later is won by the provider's clock only.
func ExampleNextDispute() {
	undated, err := fsm.NextDispute(fsm.DisputeLost, fsm.DisputeOpen, false)
	fmt.Println(undated.To, undated.Verdict, err)
	dated, err := fsm.NextDispute(fsm.DisputeLost, fsm.DisputeWon, true)
	fmt.Println(dated.To, dated.Verdict, err)
	// Output:
	// lost stale <nil>
	// won applied <nil>
}

func ExampleOperationTable() {
	for _, row := range fsm.OperationTable() {
		if row.Moved() && row.To == fsm.OperationSent {
			fmt.Println(row.From, row.Event, row.To)
		}
	}
	// Output:
	// wanted send sent
	// unknown send sent
	// accepted send sent
}

func ExampleOperationMermaid() {
	for line := range strings.Lines(fsm.OperationMermaid()) {
		if strings.Contains(line, "wanted -->") {
			fmt.Print(line)
		}
	}
	// Output:
	// wanted --> sent : send
	//     wanted --> withdrawn : withdraw
}

func ExampleTable() {
	for _, row := range fsm.Table() {
		if row.Verdict == fsm.Conflict {
			fmt.Println(row.From, row.Event, row.To)
		}
	}
	// Output: failed succeeded failed
}

func ExampleRefundTable() {
	for _, row := range fsm.RefundTable() {
		if row.Moved() {
			fmt.Println(row.From, row.Event, row.To)
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
