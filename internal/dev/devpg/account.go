package devpg

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the system's account that PostgreSQL's programs run as; uid and gid own the files.
type account struct {
	uid, gid int
	attr     syscall.SysProcAttr
}

// accountFor returns the first candidate that can run the binaries at all, and their major version.
func accountFor(ctx context.Context, bin string, candidates []account) (account, string, error) {
	var errs []error
	for _, a := range candidates {
		v, err := major(ctx, bin, a.child(syscall.SIGKILL))
		if err == nil {
			return a, v, nil
		}
		errs = append(errs, err)
	}
	errs = append(errs, errors.New("no user to run PostgreSQL as: it refuses root"))
	return account{}, "", errors.Join(errs...)
}

// accounts lists the candidates, best first. Root prefers a user namespace: there the files stay root's, so that a directory under
// /root works too.
func accounts() []account {
	if os.Geteuid() != 0 {
		return []account{{uid: os.Geteuid(), gid: os.Getegid()}}
	}
	all := namespaced()
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			all = append(all, setuid(u)...)
		}
	}
	return all
}

func setuid(u *user.User) []account {
	uid, errU := strconv.ParseUint(u.Uid, 10, 31)
	gid, errG := strconv.ParseUint(u.Gid, 10, 31)
	if errU != nil || errG != nil {
		return nil
	}
	return []account{{
		uid: int(uid), gid: int(gid),
		attr: syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
	}}
}

// child returns the attributes of a process of this account, which gets sig when its parent's thread dies. It has a process group of
// its own, as Ctrl-C in a terminal goes to the whole group and the parent decides when the server stops.
func (a account) child(sig syscall.Signal) *syscall.SysProcAttr {
	attr := a.attr
	attr.Setpgid = true
	endWithParent(&attr, sig)
	return &attr
}
