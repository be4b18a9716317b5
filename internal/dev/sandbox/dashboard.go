package sandbox

import "net/http"

// act makes a handler for an action of a person in the provider's dashboard, or of a cardholder's bank.
// The merchant does not call it. So it has no idempotency key, and each call repeats the action.
func act[T request[T]](s *Server, status int, run func(*tx, call, T) result) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		refused := decode(w, r, &in)
		if refused == nil {
			in, refused = in.checked()
		}
		if refused != nil {
			write(w, errorReply(refused))
			return
		}
		var res result
		err := s.store.update(func(t *tx) {
			t.lag = s.opts.Delays.Webhook
			res = run(t, call{id: r.PathValue("id"), act: r.PathValue("act")}, in).replied(status)
		})
		if err != nil {
			s.opts.Log(err)
			write(w, errorReply(internalError()))
			return
		}
		write(w, res.reply)
	}
}

type dashboardRefund struct {
	Amount *int64 `json:"amount"`
}

func (in dashboardRefund) checked() (dashboardRefund, *apiError) { return in, checkOptional(in.Amount) }

// refundInDashboard refunds without a reference of the merchant's.
func refundInDashboard(t *tx, c call, in dashboardRefund) result {
	return createRefund(t, c, refundRequest{Amount: in.Amount})
}
