package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// dev is a running `paylatch dev` with its printed commands.
type dev struct {
	*process
	base     string
	commands []string
}

func startDev(t *testing.T, dir, listen, sandbox string, environ ...string) dev {
	t.Helper()
	patient := []string{"PAYLATCH_PROVIDER_TIMEOUT=20s", "PAYLATCH_IDEMPOTENCY_LEASE=21s", "PAYLATCH_LISTEN=" + listen}
	p := start(t, dir, append(patient, environ...), "dev", "--sandbox-listen", sandbox)
	d := dev{process: p, base: "http://" + listen}
	eventually(t, "the welcome", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return strings.Contains(p.stdout.String(), "done\n")
		}
	})
	for line := range strings.Lines(p.stdout.String()) {
		if strings.Contains(line, "curl ") {
			d.commands = append(d.commands, strings.TrimSpace(line))
		}
	}
	require.Len(t, d.commands, 3, "%s\n%s", p.stdout, p.stderr)
	eventually(t, "ready", func() bool {
		return client{base: d.base, blunt: true}.send(t.Context(), http.MethodGet, "/readyz", "").status == http.StatusOK
	})
	return d
}

// TestDevFromNothing runs the commands of the welcome in an empty directory, and finds their results again after a restart.
func TestDevFromNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl to run the printed commands with")
	}
	dir, listen, sandbox := t.TempDir(), testdb.Address(t), testdb.Address(t)
	broker := newNATSBroker(t)
	streams := "PAYLATCH_STREAMS=[" + broker.stream() + "]"
	d := startDev(t, dir, listen, sandbox, streams)
	var said string
	for _, command := range d.commands {
		said = paste(t, command)
		require.NotContains(t, said, `"/problems/`)
	}
	require.Contains(t, said, `"status":"succeeded"`)
	require.Contains(t, said, `"amount_captured":1999`)
	order := regexp.MustCompile(`/v1/orders/([^/]+)/pay`).FindStringSubmatch(d.commands[1])[1]
	bearer := regexp.MustCompile(`Bearer ([^']+)`).FindStringSubmatch(d.commands[1])[1]
	ledger := client{base: "http://" + sandbox}.send(t.Context(), http.MethodGet, "/v1/ledger", "")
	ledger.is(t, http.StatusOK)
	require.Equal(t, 1, strings.Count(string(ledger.text), `"kind":"charge"`))
	awaitEvents(t, broker)
	signsInOnce(t, d)
	code, _ := d.stop(t, syscall.SIGINT)
	require.Zero(t, code, d.stderr)

	again := startDev(t, dir, listen, sandbox, streams)
	awaitEvents(t, broker)
	got := client{base: again.base, token: bearer}.send(t.Context(), http.MethodGet, "/v1/orders/"+order, "")
	got.is(t, http.StatusOK)
	require.Contains(t, string(got.text), `"status":"paid"`)
	same := paste(t, d.commands[1])
	require.Contains(t, same, `"status":"succeeded"`, "the same command is the same payment")
	require.Equal(t, 1, strings.Count(string(client{base: "http://" + sandbox}.send(t.Context(), http.MethodGet, "/v1/ledger", "").text), `"kind":"charge"`))
	code, _ = again.stop(t, syscall.SIGTERM)
	require.Zero(t, code, again.stderr)
}

// signsInOnce follows the link that was printed, as the first does that is.
func signsInOnce(t *testing.T, d dev) {
	t.Helper()
	link := regexp.MustCompile(`http://\S+`).FindString(d.stdout.String())
	path, found := strings.CutPrefix(link, d.base)
	require.True(t, found, link)
	p := newPerson(t, d.base)
	p.get(path+"X").is(t, http.StatusGone)
	require.Contains(t, p.followed(p.get(path)).page(), "ada")
	p.get("/support/audit").is(t, http.StatusOK)
	again := newPerson(t, d.base)
	again.get(path).is(t, http.StatusGone)
	again.get("/support").is(t, http.StatusSeeOther)
}

// awaitEvents waits until the stream of the NATS server has the two events of a success.
func awaitEvents(t *testing.T, b *natsBroker) {
	t.Helper()
	conn, err := nats.Connect(b.server.URL(), nats.Timeout(soon))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	eventually(t, "the events", func() bool {
		stream, err := js.Stream(t.Context(), "PAYLATCH")
		if err != nil {
			return false
		}
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("paylatch.>"))
		return err == nil && info.State.Subjects["paylatch.payment_attempt.succeeded"] == 1 && info.State.Subjects["paylatch.order.paid"] == 1 && info.State.Msgs == 2
	})
}

// paste runs a line as a person's shell would and returns its output.
func paste(t *testing.T, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Run(), "%s\n%s", line, &out)
	return out.String()
}
