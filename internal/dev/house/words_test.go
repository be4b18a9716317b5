// Package house_test holds the comments to the words of the field.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packages lists all packages of the module, from its root, in order.
func packages(t *testing.T) (list []string) {
	t.Helper()
	for folder := range folders(t) {
		name, err := filepath.Rel(root, folder)
		require.NoError(t, err)
		list = append(list, filepath.ToSlash(name))
	}
	slices.Sort(list)
	return list
}

// testsToCome are those of the packages of which the tests are not held to the words yet.
func testsToCome() []string {
	return []string{
		"internal/provider",
		"internal/provider/cloudpayments",
		"internal/provider/paypal",
		"internal/provider/razorpay",
		"internal/provider/square",
		"internal/provider/standard",
		"internal/provider/stripe",
		"internal/provider/tbank",
		"internal/provider/yookassa",
		"internal/platform/worker",
		"internal/api",
		"internal/dev/e2e",
		"internal/engine",
		"internal/postgres",
		"internal/postgres/envelope",
		"webhooks/adyen",
	}
}

// kits are packages whose subject needs some of the words, or that only tests and measurements use.
func kits() []string {
	return []string{"bench", "internal/provider/providertest", "tools/parts", "webhooks/internal/providertest"}
}

// words are regular expressions of private words, and the field's words to use instead. A word that is also a plain word in another
// sense has no place here. The name of an exported identifier may be used as it is.
func words() map[string]string {
	return map[string]string{
		`errands?`:                    "operation",
		`uncounted`:                   "money movement",
		`adopt(s|ed|ing)?|namesakes?`: "attribution",
		`disown(s|ed)?|resign(s|ed)?`: "attribution",
		`news`:                        "report of a provider; outbox message, update",
		`(pay|pays|paid|paying|give back) (\w+ )?back`: "refund",
		`youth`:                           "resend window",
		`patien(ce|t)`:                    "give-up threshold, linger",
		`licen[cs]es?`:                    "permit",
		`crowds?|fades`:                   "peak concurrency",
		`(sets?|put|puts) aside|put back`: "quarantine, requeue",
		`presses`:                         "request event",
		`headroom`:                        "pipelined queries",
		`seats?|crews?|hire[sd]?|stirs?`:  "subscription, waiter, wake, slot",
		`deserted`:                        "peerClosed",
		`deeds?|archives?`:                "audit entry, attempt history",
		`mistakes?|shields?`:              "validation errors",
		`silences?`:                       "stale account",
		`turnstiles?|dams?|rigs?|mobs?`:   "fault-injecting proxy, fixture, env",
		`moody|tapped`:                    "flaky provider, spy",
	}
}

// speech is the words of people and speech, of which a comment about code needs few; maxSpeech bounds them, in 1,000 words.
var speech = regexp.MustCompile(`(?i)\b(who|whom|whose|whoever|nobody|somebody|anybody|everybody|told|tells?|hears?|heard|asks?|asked|says?|said|` +
	`wish|wishes|wished|knows?|known)\b`)

const maxSpeech = 3

func TestWords(t *testing.T) {
	t.Parallel()
	for _, name := range packages(t) {
		if slices.Contains(kits(), name) || slices.Contains([]string{"gen", "dbsqlc"}, filepath.Base(name)) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := token.NewFileSet()
			count, said := 0, []string{}
			for _, f := range written(t, set, name) {
				test := strings.HasSuffix(set.Position(f.Pos()).Filename, "_test.go")
				if !test || !slices.Contains(testsToCome(), name) {
					requireWords(t, set, f)
				}
				if test {
					continue
				}
				for _, c := range f.Comments {
					text := c.Text()
					count += len(strings.Fields(text))
					for _, word := range speech.FindAllString(text, -1) {
						said = append(said, set.Position(c.Pos()).String()+" "+word)
					}
				}
			}
			require.LessOrEqual(t, 1000*len(said), maxSpeech*max(count, 1000), "words of people and speech:\n%s", strings.Join(said, "\n"))
		})
	}
}

// requireWords fails at the private words in a file's comments.
func requireWords(t *testing.T, set *token.FileSet, f *ast.File) {
	t.Helper()
	exported := exportedNames(f)
	for _, c := range f.Comments {
		for word, instead := range words() {
			found := regexp.MustCompile(`(?i)\b(`+word+`)\b`).FindAllString(c.Text(), -1)
			found = slices.DeleteFunc(found, func(s string) bool { return exported[s] })
			require.Empty(t, found, "%s: the field's word is: %s", set.Position(c.Pos()), instead)
		}
	}
}

// exportedNames returns the exported identifiers that a file declares or uses.
func exportedNames(f *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.IsExported() {
			names[id.Name] = true
		}
		return true
	})
	return names
}

// written returns the files of a package that no program wrote.
func written(t *testing.T, set *token.FileSet, name string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../..", name, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "there is no such package")
	var files []*ast.File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		f, err := parser.ParseFile(set, path, text, parser.ParseComments)
		require.NoError(t, err)
		if !ast.IsGenerated(f) {
			files = append(files, f)
		}
	}
	return files
}
