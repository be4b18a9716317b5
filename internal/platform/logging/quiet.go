package logging

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

// Unanswered is in the error of each line about a database that does not answer.
const Unanswered = "does not answer"

// saidAgain is the shortest pause between two lines with the same message about a database that does not respond.
const saidAgain = time.Minute

// quiet passes lines on. Of lines with the same message about a database that does not respond it passes one a minute, because otherwise all loops
// and requests would log them for the whole outage. It hides API keys in all lines.
type quiet struct {
	to  io.Writer
	now func() time.Time

	mu   sync.Mutex
	said map[string]time.Time
}

// Write implements io.Writer for one line.
func (q *quiet) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(Unanswered)) && q.repeats(line) {
		return len(line), nil
	}
	if bytes.Contains(line, []byte(authz.KeyPrefix)) {
		_, err := io.WriteString(q.to, redact.APIKeys(string(line)))
		return len(line), err
	}
	return q.to.Write(line) //nolint:wrapcheck // it is the writer's
}

func (q *quiet) repeats(line []byte) bool {
	var fields struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if json.Unmarshal(line, &fields) != nil || !strings.Contains(fields.Error, Unanswered) {
		return false
	}
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	last, was := q.said[fields.Message]
	if was && now.Sub(last) < saidAgain {
		return true
	}
	if q.said == nil || len(q.said) > 100 {
		q.said = map[string]time.Time{}
	}
	q.said[fields.Message] = now
	return false
}
