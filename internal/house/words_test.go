// Package house_test holds the comments to the words of the field. A package is held to them from the day that it is listed.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packages are those that use the field's words, from the root of the module.
func packages() []string {
	return []string{
		"cmd/paylatch",
		"internal/auth",
		"internal/cardnumber",
		"internal/config",
		"internal/console",
		"internal/console/demo",
		"internal/console/page",
		"internal/datadir",
		"internal/devpg",
		"internal/idempotency",
		"internal/redact",
		"internal/sandbox",
		"internal/support",
		"internal/testdb",
		"internal/testport",
		"internal/throttle",
		"migrations",
	}
}

// words are regular expressions of private words, and the field's words to use instead. A word that is also a plain word in another
// sense has no place here.
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
	for _, name := range packages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := token.NewFileSet()
			count, said := 0, []string{}
			for _, f := range written(t, set, name) {
				test := strings.HasSuffix(set.Position(f.Pos()).Filename, "_test.go")
				for _, c := range f.Comments {
					text := c.Text()
					for word, instead := range words() {
						found := regexp.MustCompile(`(?i)\b(` + word + `)\b`).FindString(text)
						require.Empty(t, found, "%s: the field's word is: %s", set.Position(c.Pos()), instead)
					}
					if test {
						continue
					}
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

// written returns the files of a package that no program wrote.
func written(t *testing.T, set *token.FileSet, name string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
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
