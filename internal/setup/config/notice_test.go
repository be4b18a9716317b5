package config_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestNotices(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, good+`notices:
  - {name: team, mail: {smtp: "mail.internal:587", from: paylatch@shop.example, to: [team@shop.example], user: paylatch, password: secret}}
  - {name: refunds, kinds: [refund_request, late_success], mail: {smtp: "127.0.0.1:25", from: a@b.example, to: [c@d.example, e@f.example], tls: none}}
`), nil)
	require.NoError(t, err)
	require.Equal(t, []config.Notice{
		{Name: "team", Mail: config.Mail{
			SMTP: "mail.internal:587", From: "paylatch@shop.example", To: []string{"team@shop.example"}, User: "paylatch", Password: "secret", TLS: "starttls",
		}},
		{Name: "refunds", Kinds: []string{"refund_request", "late_success"}, Mail: config.Mail{
			SMTP: "127.0.0.1:25", From: "a@b.example", To: []string{"c@d.example", "e@f.example"}, TLS: "none",
		}},
	}, c.Notices)
	require.NotContains(t, fmt.Sprintf("%v %+v", c.Notices, c.Notices), "secret")
	require.Empty(t, c.PublicConsole())
	c.Console.OIDC.RedirectURL = "https://pay.example/support/sign-in/callback"
	require.Equal(t, "https://pay.example", c.PublicConsole())
}

func TestNoticesRefused(t *testing.T) {
	t.Parallel()
	const ok = `{name: a, mail: {smtp: "m:25", from: a@b.example, to: [c@d.example]}}`
	for text, want := range map[string]string{
		`{mail: {smtp: "m:25", from: a@b.example, to: [c@d.example]}}`: "notices[0].name: must be 1 to 64",
		ok + ", " + ok: "notices[1].name: an earlier notice",
		`{name: a, kinds: [lost], mail: {smtp: "m:25", from: a@b.example, to: [c@d.example]}}`:                   "notices[0].kinds[0]: must be one of",
		`{name: a, mail: {smtp: m, from: a@b.example, to: [c@d.example]}}`:                                       "notices[0].mail.smtp: must be host:port",
		`{name: a, mail: {smtp: "m:25", from: a, to: [c@d.example]}}`:                                            "notices[0].mail.from: must be a mail address",
		`{name: a, mail: {smtp: "m:25", from: "A <a@b.example>", to: [c@d.example]}}`:                            "notices[0].mail.from: must be a mail address",
		`{name: a, mail: {smtp: "m:25", from: a@b.example}}`:                                                     "notices[0].mail.to: is missing",
		`{name: a, mail: {smtp: "m:25", from: a@b.example, to: [c]}}`:                                            "notices[0].mail.to[0]: must be a mail address",
		`{name: a, mail: {smtp: "m:25", from: a@b.example, to: [c@d.example], tls: maybe}}`:                      "notices[0].mail.tls: must be one of",
		`{name: a, mail: {smtp: "m:25", from: a@b.example, to: [c@d.example], user: u}}`:                         "notices[0].mail.user: user and password belong together",
		`{name: a, mail: {smtp: "m:25", from: a@b.example, to: [c@d.example], user: u, password: p, tls: none}}`: "notices[0].mail.tls: must be starttls or implicit",
	} {
		errs := validationErrors(t, good+"notices: ["+text+"]\n")
		require.Len(t, errs, 1, text)
		require.Contains(t, errs[0], want)
	}
}
