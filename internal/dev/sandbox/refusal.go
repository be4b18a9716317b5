package sandbox

import "net/http"

// apiError is a definitive refusal: nothing was done.
type apiError struct {
	status       int
	Code         string `json:"code"`
	Message      string `json:"message"`
	ChargeStatus status `json:"charge_status,omitempty"`
}

func invalid(message string) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, Code: "validation_failed", Message: message}
}

func invalidToken() *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, Code: "invalid_token", Message: "There is no such token."}
}

func unauthenticated() *apiError {
	return &apiError{
		status: http.StatusUnauthorized, Code: "unauthenticated",
		Message: "Send the charge's client_secret as Authorization: Bearer.",
	}
}

func notFound(name string) *apiError {
	return &apiError{status: http.StatusNotFound, Code: "not_found", Message: "There is no such " + name + "."}
}

func internalError() *apiError {
	return &apiError{
		status: http.StatusInternalServerError, Code: "internal_error",
		Message: "Something went wrong; the outcome is unknown.",
	}
}

func malformed(err error) *apiError {
	return &apiError{status: http.StatusBadRequest, Code: "malformed_request", Message: err.Error()}
}
