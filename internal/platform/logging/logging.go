// Package logging makes the program's loggers.
package logging

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// timeFormat is RFC 3339 with microseconds, as in the API.
const timeFormat = "2006-01-02T15:04:05.000000Z07:00"

// New makes the process's logger. It sets zerolog's time format and its clock, which are
// global.
func New(c config.Log, w io.Writer, now func() time.Time) zerolog.Logger {
	zerolog.TimeFieldFormat = timeFormat
	zerolog.TimestampFunc = func() time.Time { return now().UTC() }
	return logger(c, w)
}

// kept is how many lines of refusals wait for a slow writer.
const kept = 4096

// Refusals makes a logger that never waits for its writer: what is refused comes as often as anybody likes, and a full pipe would stop
// all else with it. Lines that don't fit are dropped, and counted in a line of log. close writes what waits, unless the writer takes
// nothing.
func Refusals(c config.Log, w io.Writer, log zerolog.Logger) (refusals zerolog.Logger, closing func()) {
	// The ring would close a file, and this one is the process's.
	ring := diode.NewWriter(struct{ io.Writer }{w}, kept, 0, func(missed int) {
		log.Warn().Int("lines", missed).Msg("lines about refused requests were dropped, because the log was too slow")
	})
	return logger(c, ring), func() {
		written := make(chan struct{})
		go func() {
			_ = ring.Close()
			close(written)
		}()
		limit := time.NewTimer(closeTime)
		defer limit.Stop()
		select {
		case <-written:
		case <-limit.C:
		}
	}
}

// closeTime bounds how long the end of the process waits for a writer.
const closeTime = time.Second

func logger(c config.Log, w io.Writer) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if c.Format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05.000", NoColor: !isTerminal(w)}
	}
	return zerolog.New(&quiet{to: w, now: zerolog.TimestampFunc}).Level(level).With().Timestamp().Logger()
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
