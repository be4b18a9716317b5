package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestEndpoints(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, good+"endpoints:\n  - {name: shop, url: \"https://shop.example/events\", secrets: ["+whsec+
		"], types: [order.paid], schedule: [5s, 2h]}\n  - {name: own, url: \"http://10.0.0.1/\", secrets: ["+whsec+"], allow_private: true}\n"+
		"  - {name: all, url: \"https://shop.example/all\", secrets: ["+whsec+"], types: [\"*\", order.paid]}\n"), nil)
	require.NoError(t, err)
	require.Equal(t, []config.Endpoint{
		{
			Name: "shop", URL: "https://shop.example/events", Secrets: []config.Secret{whsec}, Types: []string{"order.paid"},
			Schedule: []time.Duration{5 * time.Second, 2 * time.Hour},
		},
		{Name: "own", URL: "http://10.0.0.1/", Secrets: []config.Secret{whsec}, AllowPrivate: true},
		{Name: "all", URL: "https://shop.example/all", Secrets: []config.Secret{whsec}, Types: []string{"*", "order.paid"}},
	}, c.Endpoints)
	require.Equal(t, []string{"order.paid"}, c.Endpoints[0].Chosen())
	require.Empty(t, c.Endpoints[1].Chosen())
	require.Empty(t, c.Endpoints[2].Chosen(), "* is all types")
}

func TestEndpointsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{url: "https://a.example", secrets: [` + whsec + `]}`:                                                                         "endpoints[0].name: must be 1 to 64 of a–z, 0–9 and -",
		`{name: a, url: "http://a.example", secrets: [` + whsec + `]}`:                                                                 "endpoints[0].url: must begin with https://",
		`{name: a, url: "ftp://a.example", secrets: [` + whsec + `]}`:                                                                  "endpoints[0].url: must be an address",
		`{name: a, url: "https://u:p@a.example", secrets: [` + whsec + `]}`:                                                            "endpoints[0].url: must be an address",
		`{name: a, url: "https://a.example"}`:                                                                                          "endpoints[0].secrets: is missing",
		`{name: a, url: "https://a.example", secrets: [whsec_c2hvcnQ=]}`:                                                               "endpoints[0].secrets[0]: must be whsec_",
		`{name: a, url: "https://a.example", secrets: [` + whsec[6:] + `]}`:                                                            "endpoints[0].secrets[0]: must be whsec_",
		`{name: a, url: "https://a.example", secrets: [` + whsec + `, ` + whsec + `]}`:                                                 "endpoints[0].secrets[1]: equals an earlier secret",
		`{name: a, url: "https://a.example", secrets: [` + whsec + `], types: ["*", order.payed]}`:                                     "endpoints[0].types[1]: must be one of",
		`{name: a, url: "https://a.example", secrets: [` + whsec + `], types: [order.payed]}`:                                          "endpoints[0].types[0]: must be one of",
		`{name: a, url: "https://a.example", secrets: [` + whsec + `], schedule: [0s]}`:                                                "endpoints[0].schedule[0]: must be longer than 0",
		`{name: a, url: "https://a.example", secrets: [` + whsec + `]}, {name: a, url: "https://a.example", secrets: [` + whsec + `]}`: "endpoints[1].name: an earlier endpoint",
	} {
		errs := validationErrors(t, good+"endpoints: ["+text+"]\n")
		require.Len(t, errs, 1, text)
		require.Contains(t, errs[0], want)
	}
}
