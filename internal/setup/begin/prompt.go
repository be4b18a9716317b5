package begin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

var (
	// ErrStopped is returned when the context has ended.
	ErrStopped = errors.New("stopped; run the command again to continue")
	// ErrKind is returned for an unknown kind.
	ErrKind = errors.New("--kind must be one of " + strings.Join(all.Kinds(), ", "))
)

// Dialog reads answers from a person at a terminal. Without a terminal each answer is empty.
type Dialog struct {
	Out   io.Writer
	lines <-chan string
}

// NewDialog returns a dialog; in is nil if there is no terminal.
func NewDialog(in io.Reader, out io.Writer) *Dialog {
	d := &Dialog{Out: out}
	if in == nil {
		return d
	}
	lines := make(chan string)
	go func() { // A read from a terminal can't be interrupted. The goroutine ends with the program.
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	d.lines = lines
	return d
}

// prompt returns the answer to a question. Without a person, or at the end of the input, the answer is empty.
func (d *Dialog) prompt(ctx context.Context, question string) (string, error) {
	if d.lines == nil {
		return "", nil
	}
	_, _ = fmt.Fprintf(d.Out, "  %s: ", question)
	select {
	case answer := <-d.lines:
		return answer, nil
	case <-ctx.Done():
		_, _ = fmt.Fprintln(d.Out)
		return "", ErrStopped
	}
}

// MissingError lists the flags of the missing values.
type MissingError []string

// Error implements error.
func (m MissingError) Error() string {
	return "missing: " + strings.Join(m, ", ") + "; set the flags, or run the command in a terminal, which asks for missing values"
}

// Prompt completes the account from the answers. It prints the setup at the provider before it reads the values that the setup shows.
func (a *Account) Prompt(ctx context.Context, d *Dialog) error {
	if err := a.promptKind(ctx, d); err != nil {
		return err
	}
	if a.Name == "" {
		a.Name = a.Kind
	}
	if a.Keys == nil {
		a.Keys = map[string]string{}
	}
	_, _ = fmt.Fprintf(d.Out, "\nAn account at %s, in its test mode. Enter only test credentials.\n", a.kind().About.Name)
	var missing MissingError
	for _, key := range a.Credentials() {
		if err := a.promptKey(ctx, d, key, ""); err != nil {
			return err
		}
		if a.Keys[key.Name] == "" {
			missing = append(missing, "--set "+key.Name+"=…")
		}
	}
	if len(missing) > 0 {
		return missing
	}
	if a.hasCurrency() {
		if err := a.promptKey(ctx, d, webhooks.Key{Name: currency}, " of the account (empty: "+a.Trial().Currency+")"); err != nil {
			return err
		}
	}
	if a.DatabaseURL == "" {
		url, err := d.prompt(ctx, "database_url, a PostgreSQL for tests (empty: paylatch dev starts its own)")
		if err != nil {
			return err
		}
		a.DatabaseURL = url
	}
	a.Setup(d.Out)
	for _, key := range a.Proofs() {
		if err := a.promptKey(ctx, d, key, " (empty: later)"); err != nil {
			return err
		}
	}
	a.Complete()
	return nil
}

func (a *Account) promptKind(ctx context.Context, d *Dialog) error {
	for range 3 {
		if a.Kind == "" {
			kind, err := d.prompt(ctx, "kind of the provider ("+strings.Join(all.Kinds(), ", ")+")")
			if err != nil {
				return err
			}
			a.Kind = kind
		}
		if _, known := provider.Kinds()[a.Kind]; known {
			return nil
		}
		if a.Kind == "" && d.lines == nil {
			return MissingError{"--kind"}
		}
		if d.lines == nil {
			break
		}
		a.Kind = ""
	}
	return ErrKind
}

func (a *Account) promptKey(ctx context.Context, d *Dialog, key webhooks.Key, hint string) error {
	if a.Keys[key.Name] != "" {
		return nil
	}
	question := key.Name + hint
	if key.Doc != "" {
		question = key.Name + ", " + key.Doc + hint
	}
	answer, err := d.prompt(ctx, question)
	if answer != "" {
		a.Keys[key.Name] = answer
	}
	return err
}

// Setup prints the steps at the provider, and how its webhooks reach this machine.
func (a *Account) Setup(out io.Writer) {
	_, _ = fmt.Fprintf(out, "\nAt %s, in the test mode. The address of the account's endpoint is %s\n", a.kind().About.Name, a.Endpoint())
	for i, step := range a.kind().About.Setup {
		_, _ = fmt.Fprintf(out, "  %d. %s\n", i+1, step)
	}
	if a.PublicURL != "" {
		return
	}
	tunnel := a.Trial().Tunnel
	if tunnel == "" {
		_, _ = fmt.Fprintf(out, "\nThe provider reaches this machine through a tunnel, such as\n\n  cloudflared tunnel --url %s\n\n"+
			"The tunnel prints its address. The endpoint is the tunnel's address with /webhooks/%s (--public-url).\n\n",
			strings.TrimSuffix(a.Endpoint(), "/webhooks/"+a.Name), a.Name)
		return
	}
	_, _ = fmt.Fprintf(out, "\nFor a test on this machine the provider's own tunnel replaces these steps. The tunnel prints the secret. Run it in another terminal:\n\n  %s\n\n",
		strings.ReplaceAll(tunnel, "{endpoint}", a.Endpoint()))
}
