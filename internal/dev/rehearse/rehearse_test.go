package rehearse

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestNaiveShop: the rehearsal finds the double charges of a shop without idempotency. Two faults are enough here; with PAYLATCH_LARGE=1 it
// runs all courses, which takes two minutes.
func TestNaiveShop(t *testing.T) {
	t.Parallel()
	chromium, err := findBrowser("")
	if errors.Is(err, ErrNoBrowser) {
		t.Skip("there is no chromium to press the button with")
	}
	require.NoError(t, err)
	box, err := sandbox.New(sandbox.Options{StateFile: filepath.Join(t.TempDir(), "journal"), Log: func(err error) { t.Log(err) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = box.Close() })
	provider := httptest.NewServer(box)
	t.Cleanup(provider.Close)
	shop := naiveShop(t, provider.URL)

	f, err := os.ReadFile("../../../examples/naive-shop/rehearse.yaml")
	require.NoError(t, err)
	script, err := Read(strings.NewReader(strings.ReplaceAll(string(f), "http://127.0.0.1:9090", provider.URL)))
	require.NoError(t, err)
	names := []string{"answer lost", "repeated"}
	if os.Getenv("PAYLATCH_LARGE") != "" {
		names = nil
	}
	all, err := chosen(names)
	require.NoError(t, err)
	got := map[string]int{}
	require.NoError(t, Run(t.Context(), Options{
		Script: script, Checkout: shop + "/checkout?order={{n}}", Browser: chromium, Client: http.DefaultClient, Now: time.Now, courses: all,
	}, func(r Result) {
		t.Log(r.sentences())
		got[r.Course] = len(r.Charges)
		require.Equal(t, len(r.Charges) == 1, r.OK)
		if r.Course == "plain" {
			require.Equal(t, Paid, r.Page)
			require.Equal(t, []string{"1999", "EUR"}, []string{r.Charges[0].Amount, r.Charges[0].Currency})
		}
		require.Positive(t, r.Requests)
	}))
	require.Len(t, got, len(all))
	for name, charges := range got {
		// The answer of the courses reload and offline may have reached the page.
		require.True(t, charges > 1 || name == "plain" || name == "reload" || name == "offline", "%s: %d", name, charges)
	}
}

// naiveShop starts examples/naive-shop and returns its address.
func naiveShop(t *testing.T, provider string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "naive-shop")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/paylatch/paylatch/examples/naive-shop").CombinedOutput()
	require.NoError(t, err, "%s", out)
	address := testdb.Address(t)
	shop := exec.CommandContext(t.Context(), program)
	shop.Env = append(os.Environ(), "SHOP_LISTEN="+address, "PROVIDER_URL="+provider)
	require.NoError(t, shop.Start())
	t.Cleanup(func() { _, _ = shop.Process.Kill(), shop.Wait() })
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 5*time.Minute, 10*time.Millisecond)
	return "http://" + address
}

func TestOptions(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(script, []byte(small), 0o600))
	for _, tt := range []struct {
		ask  Ask
		want string
	}{
		{Ask{Checkout: "shop", Script: script}, "--checkout must be"},
		{Ask{Checkout: "http://shop", Script: script + "x"}, "--script"},
		{Ask{Checkout: "http://shop", Script: script, Courses: []string{"fast"}}, "there is no course \"fast\", only plain, double press"},
		{Ask{Checkout: "http://shop", Script: script, Browser: script + "x"}, "--browser"},
	} {
		_, err := tt.ask.Options(http.DefaultClient, time.Now)
		require.ErrorContains(t, err, tt.want)
	}
	some, err := chosen([]string{"slow"})
	require.NoError(t, err)
	require.Equal(t, []string{"plain", "slow"}, []string{some[0].name, some[1].name})
	require.Len(t, some, 2)
}
