package sandbox

// entry is the changes of one call, and one line of the journal: all or nothing. A
// charge, refund or key is stored whole, as it is afterwards.
type entry struct {
	Charges   []chargeRecord `json:"charges,omitempty"`
	Refunds   []refund       `json:"refunds,omitempty"`
	Disputes  []Dispute      `json:"disputes,omitempty"`
	Movements []Record       `json:"movements,omitempty"`
	Events    []event        `json:"events,omitempty"`
	Delivered []string       `json:"delivered,omitempty"`
	Keys      []keyRecord    `json:"keys,omitempty"`
	Methods   []methodRecord `json:"methods,omitempty"`
}

func (e entry) empty() bool {
	return len(e.Charges)+len(e.Refunds)+len(e.Disputes)+len(e.Movements)+len(e.Events)+len(e.Delivered)+len(e.Keys)+len(e.Methods) == 0
}

// state is everything, as restored from the journal.
type state struct {
	charges            map[string]chargeRecord
	chargesByReference map[string][]string
	refunds            map[string]refund
	refundsByReference map[string][]string
	refundsByCharge    map[string][]string
	disputes           map[string]Dispute
	disputesByCharge   map[string][]string
	ledger             []Record
	listed             []event // all that ever were
	events             map[string]*pendingEvent
	keys               map[string]keyRecord
	methods            map[string]methodRecord
}

// pendingEvent is an event that has not been received; done closes when it is.
type pendingEvent struct {
	event

	done chan struct{}
}

func newState() *state {
	return &state{
		charges:            map[string]chargeRecord{},
		chargesByReference: map[string][]string{},
		refunds:            map[string]refund{},
		refundsByReference: map[string][]string{},
		refundsByCharge:    map[string][]string{},
		disputes:           map[string]Dispute{},
		disputesByCharge:   map[string][]string{},
		events:             map[string]*pendingEvent{},
		keys:               map[string]keyRecord{},
		methods:            map[string]methodRecord{},
	}
}

func (st *state) apply(e entry) {
	for _, c := range e.Charges {
		if _, known := st.charges[c.ID]; !known {
			st.chargesByReference[c.Reference] = append(st.chargesByReference[c.Reference], c.ID)
		}
		st.charges[c.ID] = c
	}
	for _, re := range e.Refunds {
		st.refunds[re.ID] = re
		st.refundsByCharge[re.ChargeID] = append(st.refundsByCharge[re.ChargeID], re.ID)
		if re.Reference != "" {
			st.refundsByReference[re.Reference] = append(st.refundsByReference[re.Reference], re.ID)
		}
	}
	for _, d := range e.Disputes {
		if _, known := st.disputes[d.ID]; !known {
			st.disputesByCharge[d.ChargeID] = append(st.disputesByCharge[d.ChargeID], d.ID)
		}
		st.disputes[d.ID] = d
	}
	st.ledger = append(st.ledger, e.Movements...)
	st.listed = append(st.listed, e.Events...)
	for _, ev := range e.Events {
		if ev.Listed {
			continue
		}
		st.events[ev.ID] = &pendingEvent{event: ev, done: make(chan struct{})}
	}
	for _, id := range e.Delivered {
		if ev, waiting := st.events[id]; waiting {
			close(ev.done)
			delete(st.events, id)
		}
	}
	for _, m := range e.Methods {
		st.methods[m.Token] = m
	}
	for _, k := range e.Keys {
		st.keys[k.Key] = k
	}
}

// job is pending work of Run: an event to deliver, or the plan of a charge to carry
// out.
type job struct {
	event  *pendingEvent
	charge chargeRecord
}

// jobs returns the work to continue after a restart.
func (st *state) jobs() []job {
	var all []job
	for _, ev := range st.events {
		all = append(all, job{event: ev})
	}
	for _, c := range st.charges {
		if c.Plan != nil {
			all = append(all, job{charge: c})
		}
	}
	return all
}

// jobsOf returns the jobs of an entry that was just applied.
func (st *state) jobsOf(e entry) []job {
	var added []job
	for _, ev := range e.Events {
		if pending := st.events[ev.ID]; pending != nil {
			added = append(added, job{event: pending})
		}
	}
	for _, c := range e.Charges {
		if c.Plan != nil {
			added = append(added, job{charge: c})
		}
	}
	return added
}
