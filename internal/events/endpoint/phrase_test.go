package endpoint_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// anyPhrase has a receiver refuse one event with a status line that the database can't hold as it is.
func anyPhrase(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"HTTP/1.1 503 Indispon\xedvel":   "503 Indisponvel: later",
		"HTTP/1.1 503 Not\x00 now":       "503 Not now: later",
		"HTTP/1.1 503 \x1b[31mNot now":   "503 [31mNot now: later",
		"HTTP/1.1 410 Dispar\xed\x00tre": "410 Dispartre: later",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			v := receive(t, nil, func(w http.ResponseWriter, m message, _ int) {
				if m.Subject == "b" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				if err := answerRaw(w, line+"\r\nConnection: close\r\n\r\nlater"); err != nil {
					t.Errorf("answer: %v", err)
				}
			})
			service, s := e.sender(t, v)
			e.write(t, "b 1", "a 1")
			require.NoError(t, s.Pass(t.Context()))
			require.NoError(t, s.Pass(t.Context()))
			require.ElementsMatch(t, []string{"b 1", "a 1"}, v.got(), "each is sent once")
			st := e.status(t, service)
			require.EqualValues(t, 1, st.Retries)
			require.Equal(t, want, st.LastError)
			log, err := service.Attempts(t.Context(), "shop", 0, true, 10)
			require.NoError(t, err)
			require.Len(t, log, 1)
			require.Equal(t, want, log[0].Error)
			tried, err := service.Test(t.Context(), "shop")
			require.NoError(t, err)
			require.Equal(t, want, tried.Error)
		})
	}
}

// answerRaw writes a response that net/http would not write.
func answerRaw(w http.ResponseWriter, response string) error {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(response))
	return errors.Join(err, c.Close())
}
