package fsm

// Row is the effect of one report on an attempt in one state.
type Row struct {
	News News
	Step
}

// Table lists the results of Next for every state and all News, by state in the order of States, then
// by News in the order of AttemptNews.
func Table() []Row {
	var rows []Row
	for _, from := range States() {
		for _, news := range AttemptNews() {
			if step, err := Next(from, news); err == nil {
				rows = append(rows, Row{News: news, Step: step})
			}
		}
	}
	return rows
}

// RefundRow is the effect of one report on a refund in one state.
type RefundRow struct {
	News News
	RefundStep
}

// RefundTable lists the results of NextRefund, ordered as Table is. News that a refund does not have
// has no row.
func RefundTable() []RefundRow {
	var rows []RefundRow
	for _, from := range RefundStates() {
		for _, news := range AllNews() {
			if step, err := NextRefund(from, news); err == nil {
				rows = append(rows, RefundRow{News: news, RefundStep: step})
			}
		}
	}
	return rows
}
