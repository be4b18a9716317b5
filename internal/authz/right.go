package authz

// Right is a right that the configuration may give to customers beside the rights that they always have.
type Right string

// The rights. Customers have no such right by default: orders.created_by of the configuration gives the first,
// orders.customers_may the others.
const (
	// CreateOrder is the right to set a price.
	CreateOrder Right = "create_order"
	// CaptureManual is the right to request a hold in place of a charge.
	CaptureManual Right = "capture_manual"
	// CancelHold is the right to end a hold, by cancelling its attempt or its order.
	CancelHold Right = "cancel_hold"
	// Confirm is the right to capture all of a hold, ConfirmPart any amount of it.
	Confirm     Right = "confirm"
	ConfirmPart Right = "confirm_part"
)
