package provider_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var update = flag.Bool("update", false, "write docs/reference/providers.md and the pages beside it")

const manual = "../../docs/reference/providers"

// TestManualSaysWhatAdaptersDo keeps the pages about providers equal to the adapters' descriptions: the members of a
// charge, which the adapters' own tests compare with their requests, and the records that are read.
func TestManualSaysWhatAdaptersDo(t *testing.T) {
	t.Parallel()
	parts := map[string]map[string]string{manual + ".md": {"records": records(t), "shown": shown(t), "trials": trials(), "arrives": arrives()}}
	for name, tables := range carries() {
		parts[filepath.Join(manual, name+".md")] = map[string]string{"carries": tables}
	}
	for page, parts := range parts {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			want := string(text)
			for name, tables := range parts {
				from, to := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->\n"
				head, rest, ok := strings.Cut(want, from)
				require.True(t, ok, "the marker is gone")
				_, tail, ok := strings.Cut(rest, to)
				require.True(t, ok, "the marker is gone")
				want = head + from + tables + to + tail
			}
			if *update {
				require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
				return
			}
			require.Equal(t, want, string(text), "run with -update")
		})
	}
}

// records returns the table of each kind's records.
func records(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| adapter | books | may lack new entries for | payouts | event list | statement |\n|---|---|---|---|---|---|\n")
	adapters := provider.Adapters()
	has := map[bool]string{true: "yes", false: "–"}
	for _, kind := range slices.Sorted(maps.Keys(adapters)) {
		a := adapters[kind]
		if a.New == nil {
			continue
		}
		lists := false
		if a.Books != nil {
			books, err := a.Books(kit.Settings{Params: map[string]string{"lists": "both"}})
			require.NoError(t, err, kind)
			_, lists = books.(gateway.Payouts)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", kind, has[a.Books != nil], lagOf(a), has[lists], has[a.Events != nil], has[a.Statement != nil])
	}
	return b.String()
}

// trials returns the table of the test payments.
func trials() string {
	var b strings.Builder
	b.WriteString("| kind | payment method | a person's part |\n|---|---|---|\n")
	for _, kind := range provider.Callable() {
		trial := provider.Adapters()[kind].Trial
		token, byHand := "–", trial.ByHand
		if text := trial.Token + trial.Page; text != "" {
			token = "`" + text + "`"
		}
		if trial.Unannounced {
			byHand = "nothing; no webhook comes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", kind, token, cmp.Or(byHand, "nothing"))
	}
	return b.String()
}

// arrives returns the table of the times in which a refund reaches the customer.
func arrives() string {
	var b strings.Builder
	b.WriteString("| kind | a refund reaches the customer | source |\n|---|---|---|\n")
	for _, kind := range provider.Callable() {
		if takes := provider.Adapters()[kind].RefundTime; takes.Words != "" {
			fmt.Fprintf(&b, "| `%s` | %s | [the provider's page](%s) |\n", kind, takes.Words, takes.Source)
		}
	}
	return b.String()
}

// shown returns the table of the objects that lookups of captured payments show.
func shown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| adapter | refunds | disputes and chargebacks |\n|---|---|---|\n")
	has := map[bool]string{true: "yes", false: "–"}
	for _, kind := range provider.Callable() {
		p, err := provider.New(kind, kit.Settings{Params: map[string]string{"webhook_secret": "secret"}})
		require.NoError(t, err)
		if can := p.Capabilities(); !can.Blind() {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", kind, has[can.Shows >= payment.ShowsRefunds], has[can.Shows >= payment.ShowsChargebacks])
		}
	}
	return b.String()
}

// carries returns the tables of the kinds that can be charged, by page. The sandbox is on the page of the contract,
// which it implements.
func carries() map[string]string {
	pages := map[string]string{}
	adapters := provider.Adapters()
	for _, kind := range slices.Sorted(maps.Keys(adapters)) {
		a := adapters[kind]
		switch {
		case a.New == nil:
		case kind == "sandbox":
			pages["standard"] = "### `sandbox`\n\n" + table(a) + "### `standard`\n\n"
		default:
			pages[kind] += table(a)
		}
	}
	return pages
}

func lagOf(a kit.Adapter) string {
	switch {
	case a.Lag == 0:
		return "–"
	case a.Lag%time.Hour == 0:
		return fmt.Sprintf("%d h", a.Lag/time.Hour)
	}
	return fmt.Sprintf("%d s", a.Lag/time.Second)
}

// further returns the sentences about provider_data of captures and refunds.
func further(f gateway.Further) string {
	var b strings.Builder
	for _, of := range []struct {
		what    string
		members gateway.Members
	}{{"capture", f.Capture}, {"refund", f.Refund}} {
		if len(of.members) > 0 {
			fmt.Fprintf(&b, " `provider_data` of a %s: %s.", of.what, quoted(of.members.Names()))
		}
	}
	if len(f.Split.Pay) > 0 {
		fmt.Fprintf(&b, " A pay with %s shares its money, so its refund must have %s.", strings.Join(each(f.Split.Pay), " or "), strings.Join(each(f.Split.Refund), " or "))
	}
	return b.String()
}

func quoted(names []string) string { return strings.Join(each(names), ", ") }

func each(names []string) (in []string) {
	for _, name := range names {
		in = append(in, "`"+name+"`")
	}
	return in
}

func table(a kit.Adapter) string {
	var b strings.Builder
	b.WriteString("| member of the pay | becomes | when |\n|---|---|---|\n")
	for _, m := range a.Carries {
		when := m.When
		if m.Member == "return_url" && !m.ToApps {
			when = strings.TrimPrefix(when+"; http and https only", "; ")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", m.Member, m.As, when)
	}
	names := "none"
	if len(a.ProviderData) > 0 {
		names = quoted(a.ProviderData)
	}
	fmt.Fprintf(&b, "\n`provider_data`: %s.", names)
	if a.SecondStep != "" {
		fmt.Fprintf(&b, " `complete` takes %s.", a.SecondStep)
	}
	b.WriteString(further(a.Further) + "\n\n")
	return b.String()
}
