package postgres_test

import (
	"testing"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
)

// finderClerk is a person of support.
var finderClerk = support.Staff{Actor: authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}}}

// finderSearching is the search of a database, audited there.
func finderSearching(t *testing.T, url string) *finder.Service {
	t.Helper()
	s := enginetest.Store(t, url)
	return finder.New(s.Finder(), support.New(support.Options{Store: s.Support()}), time.Now)
}
