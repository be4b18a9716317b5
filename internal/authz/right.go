package authz

// Right is a right that the configuration may give to customers beside the rights that they always have.
type Right string

// The rights. Customers have no such right by default: orders.created_by of the configuration gives the first,
// orders.customers_may the others.
const (
	// CreateOrder is to set a price.
	CreateOrder Right = "create_order"
	// CaptureManual is to ask for a hold in place of a charge.
	CaptureManual Right = "capture_manual"
	// Lines is to send lines with a pay, which then count in place of the order's.
	Lines Right = "lines"
	// CancelHold is to end a hold, by cancelling its attempt or its order.
	CancelHold Right = "cancel_hold"
	// Confirm is to capture all of a hold, ConfirmPart any amount of it.
	Confirm     Right = "confirm"
	ConfirmPart Right = "confirm_part"
)
