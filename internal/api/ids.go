package api

import "github.com/paylatch/paylatch/internal/payment"

const longestOrderID = 128

// OrderID reads the order that a path names, and records it for the log. It refuses an id that no order can have as one
// that does not exist.
func (x *Exchange) OrderID(text string) (payment.OrderID, error) {
	if len(text) == 0 || len(text) > longestOrderID {
		return "", x.Actor.Unseen(payment.ErrOrderNotFound)
	}
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r == '-', r == '_', r == '.', r == ':', r == '~':
		default:
			return "", x.Actor.Unseen(payment.ErrOrderNotFound)
		}
	}
	x.Order = payment.OrderID(text)
	return x.Order, nil
}

// AttemptID reads the attempt that a path names, and records it for the log.
func (x *Exchange) AttemptID(text string) (payment.AttemptID, error) {
	id, err := payment.ParseAttemptID(text)
	if err != nil {
		return id, x.Actor.Unseen(err)
	}
	x.Attempt = id.String()
	return id, nil
}
