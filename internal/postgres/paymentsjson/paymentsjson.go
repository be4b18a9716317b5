// Package paymentsjson is the form of an attempt's payments and containers in the column payment_attempts.payments.
package paymentsjson

// Payments are an attempt's payments and containers as the row has them. Text of another form can't be read: the query that
// reads it fails, so that no attempt is taken for one without payments.
type Payments struct {
	Payments   []Payment   `json:"payments,omitempty"`
	Containers []Container `json:"containers,omitempty"`
	PageOpen   bool        `json:"page_open,omitempty"`
}

// Payment is one payment at the provider. Its amounts are in minor units of the attempt's currency.
type Payment struct {
	ID         string `json:"id,omitempty"`
	State      string `json:"state"`
	Container  string `json:"container,omitempty"`
	NamedBy    string `json:"named_by,omitempty"`
	Authorized int64  `json:"authorized,omitempty"`
	Captured   int64  `json:"captured,omitempty"`
	Refunded   int64  `json:"refunded,omitempty"`
	Disputed   int64  `json:"disputed,omitempty"`
	Failure    string `json:"failure,omitempty"`
	// First, Last and Reported are microseconds since 1970; 0 without a time.
	First    int64 `json:"first,omitempty"`
	Last     int64 `json:"last,omitempty"`
	Reported int64 `json:"reported,omitempty"`
}

// Container is a page, session or order in which payments are made.
type Container struct {
	ID    string `json:"id"`
	Ended bool   `json:"ended,omitempty"`
}
