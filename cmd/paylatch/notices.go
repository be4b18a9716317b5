package main

import (
	"net"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/events/notice"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// newNotices returns the notices of the configuration.
func newNotices(cfg *config.Config, store notice.Store, now func() time.Time, log zerolog.Logger) *notice.Service {
	list := make([]notice.Notice, len(cfg.Notices))
	for i, n := range cfg.Notices {
		host, port, _ := net.SplitHostPort(n.Mail.SMTP)
		number, _ := strconv.Atoi(port) // both were checked when the configuration was read
		list[i] = notice.Notice{Name: n.Name, Kinds: n.Kinds, Mailer: notice.SMTP{
			Host: host, Port: number, From: n.Mail.From, To: n.Mail.To, User: n.Mail.User, Password: string(n.Mail.Password), TLS: n.Mail.TLS,
		}}
		if len(n.Kinds) == 0 {
			list[i].Kinds = []string{notice.Any}
		}
	}
	endpoints := make([]string, len(cfg.Endpoints))
	for i, e := range cfg.Endpoints {
		endpoints[i] = e.Name
	}
	return notice.NewService(list, notice.Options{
		Store: store, Console: cfg.PublicConsole(), Endpoints: endpoints, Now: now,
		Log: func(name string, err error) {
			logInterrupted(log, "notice", name, err, "mails about new cases are interrupted; paylatch tries again")
		},
		Lost: func(name string, events int64) {
			log.Error().Str("notice", name).Int64("events", events).
				Msg("retention.events deleted events (of any type) before they were read; new cases among them are in the worklist, but no mail is sent for them")
		},
	})
}
