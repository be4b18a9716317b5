package sandbox

import "net/http"

// method is a stored payment method as a charge shows it.
type method struct {
	Token   string `json:"token"`
	Type    string `json:"type"`
	Display string `json:"display"`
	Expires string `json:"expires"`
}

// methodRecord is a stored payment method with the customer whose it is.
type methodRecord struct {
	method

	Customer string `json:"customer"`
}

func newMethod(customer string) methodRecord {
	return methodRecord{method{newID("card_"), "card", "Visa •••• 4242", "2034-12"}, customer}
}

// behaviourOf is what a token makes of a charge. A stored payment method is charged
// only for its own customer.
func (s *Server) behaviourOf(t *tx, in chargeRequest) (behaviour, *apiError) {
	if b, known := s.tokens[in.Token]; known {
		if b.save && in.Customer == "" {
			return behaviour{}, invalid("customer must be given: whose the payment method will be.")
		}
		return b, nil
	}
	switch saved, there := t.methods[in.Token]; {
	case !there:
		return behaviour{}, &apiError{status: http.StatusUnprocessableEntity, Code: "invalid_token", Message: "There is no such token."}
	case saved.Customer != in.Customer:
		return behaviour{}, &apiError{
			status: http.StatusForbidden, Code: "payment_method_of_another_customer", Message: "The payment method belongs to another customer.",
		}
	}
	return behaviour{now: stepApprove}, nil
}

func (s *Server) showMethod(w http.ResponseWriter, r *http.Request) {
	var found *methodRecord
	s.store.view(func(st *state) {
		if m, ok := st.methods[r.PathValue("id")]; ok {
			found = &m
		}
	})
	if found == nil {
		write(w, errorReply(&apiError{status: http.StatusNotFound, Code: "not_found", Message: "There is no such payment method."}))
		return
	}
	write(w, jsonReply(http.StatusOK, found))
}
