package finderstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/internal/support"
)

// clerk is a person of support.
var clerk = support.Staff{Actor: authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}}}

func open(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	require.NoError(t, err)
	s.SealWith(envelopetest.Box(t), time.Now)
	t.Cleanup(s.Close)
	return s
}

// searching is the search of a database, audited there.
func searching(t *testing.T, url string) *finder.Service {
	t.Helper()
	s := open(t, url)
	return finder.New(s.Finder(), support.New(support.Options{Store: s.Support()}), time.Now)
}
