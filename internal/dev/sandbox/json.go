package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

const maxBody = 64 << 10

type reply struct {
	status int
	body   []byte
}

func jsonReply(status int, v any) reply {
	body, err := json.Marshal(v)
	if err != nil {
		return reply{status: http.StatusInternalServerError}
	}
	return reply{status: status, body: body}
}

func errorReply(e *apiError) reply {
	return jsonReply(e.status, map[string]*apiError{"error": e})
}

func write(w http.ResponseWriter, r reply) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// decode reads one flat JSON object strictly; no body is the empty object. It always
// reads to the end: only then net/http detects that the client of a hanging call has
// gone.
func decode(w http.ResponseWriter, r *http.Request, into any) *apiError {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return &apiError{status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: "The body has more than 64 KiB."}
	}
	if err != nil {
		return malformed(err)
	}
	if len(body) == 0 {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &apiError{status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "Send application/json."}
	}
	if err := checkMembers(body); err != nil {
		return malformed(err)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return malformed(err)
	}
	return nil
}

// checkMembers rejects faults that encoding/json accepts: members twice or in other case,
// trailing data, bytes that are not UTF-8.
func checkMembers(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		if err := checkMember(dec, seen); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("end of object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the object")
	}
	return nil
}

func checkMember(dec *json.Decoder, seen map[string]bool) error {
	token, err := dec.Token()
	if err != nil {
		return fmt.Errorf("member: %w", err)
	}
	name, _ := token.(string)
	if seen[name] || name != strings.ToLower(name) {
		return fmt.Errorf("member %q is unknown or given twice", name)
	}
	seen[name] = true
	var skipped json.RawMessage
	if err := dec.Decode(&skipped); err != nil {
		return fmt.Errorf("member %q: %w", name, err)
	}
	return nil
}
