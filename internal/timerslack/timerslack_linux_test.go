package timerslack

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// role says what the test's own binary does when a test runs it.
const role = "TIMERSLACK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "service":
		Restart()
		runtime.LockOSThread()
		fmt.Print(os.Getpid(), " ", current(), " ", os.Args[1:])
		Usual()
		child := exec.Command(os.Args[0])
		child.Env, child.Stdout = append(os.Environ(), role+"=child"), os.Stdout
		if err := child.Run(); err != nil {
			panic(err)
		}
	case "child":
		fmt.Print(" ", current())
	default:
		os.Exit(m.Run())
	}
}

// TestTheProcessStaysTheSame: it restarts once, with its arguments and what it
// writes to, and gives its slack to nobody.
func TestTheProcessStaysTheSame(t *testing.T) {
	t.Parallel()
	if current() == 0 {
		t.Skip("the system has no timer slack, or this is a real-time process")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "a", "b")
	cmd.Env = append(os.Environ(), role+"=service")
	said, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(cmd.Process.Pid, " ", Slack, " [a b] ", usual), string(said))
}
