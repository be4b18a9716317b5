package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/internal/platform/logging"
)

// loggedError returns an error in the form of the log; nil stays nil.
func loggedError(err error) any {
	if err == nil {
		return nil
	}
	return inOneLine(err)
}

// inOneLine returns the text of an error. For a database that does not answer, it names each address once and not once for each
// try.
func inOneLine(err error) string {
	text := err.Error()
	refused, is := errors.AsType[*pgconn.ConnectError](err)
	if !is {
		return text
	}
	_, details, _ := strings.Cut(refused.Error(), "`: ")
	if details == "" {
		_, details, _ = strings.Cut(refused.Error(), "`:\n")
	}
	var tries []string
	for line := range strings.Lines(details) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(tries, line) {
			tries = append(tries, line)
		}
	}
	return strings.ReplaceAll(text, refused.Error(), "the database "+logging.Unanswered+": "+strings.Join(tries, "; "))
}
