package fsm

// Row is the effect of one report on an attempt in one state.
type Row struct {
	Event Event
	Step
}

// Table lists the results of Next for every state and all events, by state in the order of States, then
// by event in the order of AttemptEvents.
func Table() []Row {
	var rows []Row
	for _, from := range States() {
		for _, news := range AttemptEvents() {
			if step, err := Next(from, news); err == nil {
				rows = append(rows, Row{Event: news, Step: step})
			}
		}
	}
	return rows
}

// RefundRow is the effect of one report on a refund in one state.
type RefundRow struct {
	Event Event
	RefundStep
}

// RefundTable lists the results of NextRefund, ordered as Table is. An event that a refund does not have
// has no row.
func RefundTable() []RefundRow {
	var rows []RefundRow
	for _, from := range RefundStates() {
		for _, news := range Events() {
			if step, err := NextRefund(from, news); err == nil {
				rows = append(rows, RefundRow{Event: news, RefundStep: step})
			}
		}
	}
	return rows
}
