package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
)

// response is the result of a handler: one type for all operations, so that headers are set in one place only, the
// exchange.
type response struct {
	status int
	// body is nil where the status has none.
	body any
}

func (r response) VisitCreateOrderResponse(w http.ResponseWriter) error     { return r.send(w) }
func (r response) VisitReadOrderResponse(w http.ResponseWriter) error       { return r.send(w) }
func (r response) VisitAmendOrderResponse(w http.ResponseWriter) error      { return r.send(w) }
func (r response) VisitPayResponse(w http.ResponseWriter) error             { return r.send(w) }
func (r response) VisitListAttemptsResponse(w http.ResponseWriter) error    { return r.send(w) }
func (r response) VisitCancelOrderResponse(w http.ResponseWriter) error     { return r.send(w) }
func (r response) VisitRegisterAttemptResponse(w http.ResponseWriter) error { return r.send(w) }
func (r response) VisitReportAttemptResponse(w http.ResponseWriter) error   { return r.send(w) }
func (r response) VisitCheckAttemptResponse(w http.ResponseWriter) error    { return r.send(w) }
func (r response) VisitCompleteResponse(w http.ResponseWriter) error        { return r.send(w) }
func (r response) VisitConfirmResponse(w http.ResponseWriter) error         { return r.send(w) }
func (r response) VisitCancelAttemptResponse(w http.ResponseWriter) error   { return r.send(w) }
func (r response) VisitCreateRefundResponse(w http.ResponseWriter) error    { return r.send(w) }
func (r response) VisitReadRefundResponse(w http.ResponseWriter) error      { return r.send(w) }
func (r response) VisitReadDisputeResponse(w http.ResponseWriter) error     { return r.send(w) }
func (r response) VisitReadPayoutResponse(w http.ResponseWriter) error      { return r.send(w) }

func (r response) VisitListEndpointsResponse(w http.ResponseWriter) error  { return r.send(w) }
func (r response) VisitListDeliveriesResponse(w http.ResponseWriter) error { return r.send(w) }
func (r response) VisitTestEndpointResponse(w http.ResponseWriter) error   { return r.send(w) }
func (r response) VisitRedeliverResponse(w http.ResponseWriter) error      { return r.send(w) }

func (r response) VisitListKeysResponse(w http.ResponseWriter) error  { return r.send(w) }
func (r response) VisitCreateKeyResponse(w http.ResponseWriter) error { return r.send(w) }
func (r response) VisitRevokeKeyResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportSearchResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportAttemptResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportRecheckResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportEventResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportRevealResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportReplayResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportDiscrepanciesResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportDiscrepancyResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportAssignResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportCommentResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportResolveResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportReplayManyResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportResolveManyResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportJobsResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportJobResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportStopJobResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportAskForRefundResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportRefundRequestsResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportRefundRequestResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportApproveRefundResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportDeclineRefundResponse(w http.ResponseWriter) error { return r.send(w) }

func (r response) VisitSupportOverviewResponse(w http.ResponseWriter) error { return r.send(w) }
func (r response) VisitSupportAuditResponse(w http.ResponseWriter) error    { return r.send(w) }

// send writes the response. A caller that has gone meanwhile is no error.
func (r response) send(w http.ResponseWriter) error {
	if r.body == nil {
		w.WriteHeader(r.status)
		return nil
	}
	text := render.JSON(r.body)
	w.Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	w.WriteHeader(r.status)
	_, _ = w.Write(text)
	return nil
}

// writes is a response that a function writes. It returns an error before anything is written.
type writes func(w http.ResponseWriter) error

func (f writes) VisitListOrdersResponse(w http.ResponseWriter) error          { return f(w) }
func (f writes) VisitListPaymentAttemptsResponse(w http.ResponseWriter) error { return f(w) }
func (f writes) VisitListRefundsResponse(w http.ResponseWriter) error         { return f(w) }
func (f writes) VisitListDisputesResponse(w http.ResponseWriter) error        { return f(w) }
func (f writes) VisitListSettlementsResponse(w http.ResponseWriter) error     { return f(w) }
func (f writes) VisitListPayoutsResponse(w http.ResponseWriter) error         { return f(w) }
func (f writes) VisitListReconciliationsResponse(w http.ResponseWriter) error { return f(w) }

func (f writes) VisitReadAttemptResponse(w http.ResponseWriter) error   { return f(w) }
func (f writes) VisitReadEventsResponse(w http.ResponseWriter) error    { return f(w) }
func (f writes) VisitStreamAttemptResponse(w http.ResponseWriter) error { return f(w) }
