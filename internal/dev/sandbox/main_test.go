package sandbox_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

const childState = "SANDBOX_TEST_CHILD_STATE"

// TestMain serves the sandbox in place of the tests when it is the child that
// the kill test starts.
func TestMain(m *testing.M) {
	if state := os.Getenv(childState); state != "" {
		fmt.Fprintln(os.Stderr, serveChild(state))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func serveChild(state string) error {
	s, err := sandbox.New(sandbox.Options{StateFile: state})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}
