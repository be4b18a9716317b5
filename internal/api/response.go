package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
)

// answer is what a handler returns: one type for all operations, so that headers
// are set in one place only, the exchange.
type answer struct {
	status int
	// body is nil where the status has none.
	body any
}

func (a answer) VisitCreateOrderResponse(w http.ResponseWriter) error   { return a.send(w) }
func (a answer) VisitReadOrderResponse(w http.ResponseWriter) error     { return a.send(w) }
func (a answer) VisitPayResponse(w http.ResponseWriter) error           { return a.send(w) }
func (a answer) VisitListAttemptsResponse(w http.ResponseWriter) error  { return a.send(w) }
func (a answer) VisitCancelOrderResponse(w http.ResponseWriter) error   { return a.send(w) }
func (a answer) VisitConfirmResponse(w http.ResponseWriter) error       { return a.send(w) }
func (a answer) VisitCancelAttemptResponse(w http.ResponseWriter) error { return a.send(w) }
func (a answer) VisitCreateRefundResponse(w http.ResponseWriter) error  { return a.send(w) }
func (a answer) VisitReadRefundResponse(w http.ResponseWriter) error    { return a.send(w) }

func (a answer) VisitSupportSearchResponse(w http.ResponseWriter) error        { return a.send(w) }
func (a answer) VisitSupportAttemptResponse(w http.ResponseWriter) error       { return a.send(w) }
func (a answer) VisitSupportRecheckResponse(w http.ResponseWriter) error       { return a.send(w) }
func (a answer) VisitSupportEventResponse(w http.ResponseWriter) error         { return a.send(w) }
func (a answer) VisitSupportRevealResponse(w http.ResponseWriter) error        { return a.send(w) }
func (a answer) VisitSupportReplayResponse(w http.ResponseWriter) error        { return a.send(w) }
func (a answer) VisitSupportDiscrepanciesResponse(w http.ResponseWriter) error { return a.send(w) }
func (a answer) VisitSupportResolveResponse(w http.ResponseWriter) error       { return a.send(w) }
func (a answer) VisitSupportAuditResponse(w http.ResponseWriter) error         { return a.send(w) }

// send writes the answer. That the caller has gone meanwhile is no error.
func (a answer) send(w http.ResponseWriter) error {
	if a.body == nil {
		w.WriteHeader(a.status)
		return nil
	}
	text := render.JSON(a.body)
	w.Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	w.WriteHeader(a.status)
	_, _ = w.Write(text)
	return nil
}

// writes is a response that a function writes. It returns an error before anything is written.
type writes func(w http.ResponseWriter) error

func (f writes) VisitReadAttemptResponse(w http.ResponseWriter) error   { return f(w) }
func (f writes) VisitStreamAttemptResponse(w http.ResponseWriter) error { return f(w) }
