package finderstore_test

import (
	"testing"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// clerk is a person of support.
var clerk = support.Staff{Actor: authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}}}

// searching is the search of a database, audited there.
func searching(t *testing.T, url string) *finder.Service {
	t.Helper()
	s := enginetest.Store(t, url)
	return finder.New(s.Finder(), support.New(support.Options{Store: s.Support()}), time.Now)
}
