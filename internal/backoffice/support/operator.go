package support

import (
	"os"
	"os/user"
	"strconv"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Operator is the system's user that runs a command of this process, with the role admin: reading the configuration takes no less.
func Operator() Staff {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return Staff{
		Actor:   authz.Actor{Subject: "cli:" + name, Roles: []payment.Role{payment.RoleAdmin}},
		Address: host, RequestID: "pid " + strconv.Itoa(os.Getpid()),
	}
}
