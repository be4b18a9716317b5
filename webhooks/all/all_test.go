package all_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// verifiers returns one of each kind, all by one configuration: the secret is text, hexadecimal and base64.
func verifiers(tb testing.TB) map[string]webhooks.Verifier {
	tb.Helper()
	made := map[string]webhooks.Verifier{}
	for _, kind := range all.Kinds() {
		v, err := all.New(kind, webhooks.Config{
			Secrets: []string{"00112233445566778899aabbccddeeff"}, PublicURL: "https://shop.example/hook",
			Params:      map[string]string{"webhook_id": "WH1", "public_key": "public"},
			Certificate: func(context.Context, string) ([]byte, error) { return nil, webhooks.ErrUnavailable },
		})
		require.NoError(tb, err, kind)
		made[kind] = v
	}
	return made
}

func TestNew(t *testing.T) {
	t.Parallel()
	t.Run("refuses_an_unknown_kind", func(t *testing.T) {
		t.Parallel()
		_, err := all.New("cash", webhooks.Config{})
		require.ErrorIs(t, err, webhooks.ErrConfig)
	})
	t.Run("an_error_comes_without_a_verifier", func(t *testing.T) {
		t.Parallel()
		v, err := all.New("stripe", webhooks.Config{})
		require.ErrorIs(t, err, webhooks.ErrConfig)
		require.Nil(t, v)
	})
}

// TestEveryKindIsFuzzed: each package of a provider has the target that signs odd bodies and requires that they are taken.
func TestEveryKindIsFuzzed(t *testing.T) {
	t.Parallel()
	for kind := range verifiers(t) {
		folder := filepath.Join("..", strings.Replace(kind, "sandbox", "standard", 1)) // one verifier for the two
		source, err := os.ReadFile(filepath.Join(folder, "genuine_test.go"))
		require.NoError(t, err, kind)
		require.Contains(t, string(source), "func FuzzGenuine(f *testing.F)", kind)
	}
}

func TestAck(t *testing.T) {
	t.Parallel()
	others := []string{"adyen", "cloudpayments", "comgate", "robokassa", "tbank"}
	for kind, v := range verifiers(t) {
		ack := v.Ack(webhooks.Delivery{}, nil)
		require.Equal(t, http.StatusOK, ack.Status, kind)
		require.Equal(t, !slices.Contains(others, kind), len(ack.Body) == 0, kind)
	}
}

// TestVectors holds the list of the vectors to the list of the kinds: each provider's own test checks those of its name.
func TestVectors(t *testing.T) {
	t.Parallel()
	t.Run("each_kind_that_is_signed_has_some", func(t *testing.T) {
		t.Parallel()
		for _, kind := range all.Kinds() {
			_, err := os.Stat(filepath.Join("..", strings.Replace(kind, "sandbox", "standard", 1), "testdata", "vectors.json"))
			require.Equal(t, kind == "gopay" || kind == "yookassa", os.IsNotExist(err), "%s: run scripts/vectors.mjs", kind)
		}
	})
	t.Run("each_published_one_is_of_a_kind", func(t *testing.T) {
		t.Parallel()
		for _, pattern := range []string{
			filepath.Join(published.Path(t, published.Vectors, ""), "*.json"), filepath.Join(published.Path(t, published.Payloads, ""), "*", "SOURCES.json"),
		} {
			paths, err := filepath.Glob(pattern)
			require.NoError(t, err)
			require.NotEmpty(t, paths, pattern)
			for _, path := range paths {
				name := strings.TrimSuffix(filepath.Base(path), ".json")
				if name == "SOURCES" {
					name = filepath.Base(filepath.Dir(path))
				}
				require.Contains(t, append(all.Kinds(), "index"), strings.TrimSuffix(name, "webhooks"), path)
			}
		}
	})
}

// TestHeaderCase: the case of a header's name never matters.
func TestHeaderCase(t *testing.T) {
	t.Parallel()
	kinds := verifiers(t)
	rapid.Check(t, func(rt *rapid.T) {
		for _, kind := range []string{"standard", "stripe", "square", "checkout"} {
			v, ok := kinds[kind].(providertest.VerifySigner)
			require.True(rt, ok)
			d := providertest.Signed(t, v, `{"id":"evt_1","type":"unknown"}`)
			d.Header = recased(rt, d.Header)
			require.NoError(rt, providertest.Verified(t, v, d))
			require.NoError(rt, v.Sign(&d), "signing again leaves one value of each")
			require.NoError(rt, providertest.Verified(t, v, d))
		}
	})
}

func recased(rt *rapid.T, h http.Header) http.Header {
	other := http.Header{}
	for name, values := range h {
		letters := []byte(strings.ToLower(name))
		for i := range letters {
			if rapid.Bool().Draw(rt, "upper") {
				letters[i] = strings.ToUpper(name)[i]
			}
		}
		other[string(letters)] = values
	}
	return other
}
