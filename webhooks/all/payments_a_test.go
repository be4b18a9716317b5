package all_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// tried is the id by which the merchant knows the attempt of both payments.
const tried = "0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e"

// twice are the messages of one kind about an attempt that its customer has paid twice: the first payment took the money,
// the second was left, declined or canceled.
type twice struct {
	first, second string
	// container is the page or order of the first payment, where the kind has such.
	container string
	// ofFirst and ofSecond are messages about either payment; those of the second end with its failure, where the kind sends one.
	ofFirst, ofSecond []string
	// ends are messages about the end of a container, or about a container alone.
	ends []string
	// payee and mode are stated in each message; they are empty if the kind does not state them.
	payee string
	mode  webhooks.Mode
	// claimed is set if a browser could have written the mark of the messages.
	claimed bool
}

// TestPaymentsAreToldApart: the messages about two payments of one attempt have two ids, the messages about one payment
// have the same id, the failure of the second is its own, and the end of a container is that of no payment.
func TestPaymentsAreToldApart(t *testing.T) {
	t.Parallel()
	for kind, c := range paidTwice() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c.check(t, func(body string) webhooks.Event { return received(t, kind, body) })
		})
	}
}

// TestEveryKindIsToldApart holds each kind to messages about two payments.
func TestEveryKindIsToldApart(t *testing.T) {
	t.Parallel()
	told := slices.Collect(maps.Keys(paidTwice()))
	for _, c := range paidTwiceElsewhere() {
		told = append(told, c.kind)
	}
	for _, kind := range all.Kinds() {
		require.Contains(t, told, kind)
	}
}

func (c twice) check(t *testing.T, read func(body string) webhooks.Event) {
	t.Helper()
	require.NotEmpty(t, c.first)
	require.NotEqual(t, c.first, c.second)
	require.Greater(t, len(c.ofFirst), 1, "two names are one")
	require.NotEmpty(t, c.ofSecond)
	for _, test := range []struct {
		name, id string
		bodies   []string
	}{
		{"two names are one", c.first, c.ofFirst},
		{"two payments are two", c.second, c.ofSecond},
		{"end of another", "", c.ends},
	} {
		for i, body := range test.bodies {
			t.Run(fmt.Sprintf("%s/%d", test.name, i), func(t *testing.T) {
				t.Parallel()
				c.checkNamed(t, read(body), test.id)
			})
			t.Run(fmt.Sprintf("stated/%s/%d", test.name, i), func(t *testing.T) {
				t.Parallel()
				c.checkStated(t, read(body), body)
			})
		}
	}
	t.Run("container", func(t *testing.T) {
		t.Parallel()
		c.checkContainer(t, read)
	})
}

// checkNamed requires that the event names this payment, or, without one, a container alone.
func (c twice) checkNamed(t *testing.T, e webhooks.Event, id string) {
	t.Helper()
	require.NotEqual(t, webhooks.KindIgnored, e.Kind, e.Type)
	require.Equal(t, id, e.ProviderPaymentID, e.Type)
	if id == "" {
		require.NotEmpty(t, e.Container, e.Type)
		id = e.Container
	}
	require.Contains(t, e.References, id, e.Type)
}

// checkStated checks the payee and the mode of each message of the kind.
func (c twice) checkStated(t *testing.T, e webhooks.Event, body string) {
	t.Helper()
	require.Equal(t, c.payee, e.Payee, body)
	require.Equal(t, c.mode, e.Mode, body)
	if len(e.References) > 0 && e.References[0] == tried {
		require.Equal(t, c.claimed, e.BrowserMark, body)
	}
}

// checkContainer requires that a message names the container, and that none names another, or takes it for a payment.
func (c twice) checkContainer(t *testing.T, read func(body string) webhooks.Event) {
	t.Helper()
	var named []string
	for _, body := range c.ofFirst {
		if e := read(body); e.Container != "" {
			named = append(named, e.Container)
			require.Contains(t, e.References, e.Container, body)
		}
	}
	if c.container == "" {
		require.Empty(t, named)
		return
	}
	require.Contains(t, named, c.container)
	for _, one := range named {
		require.Equal(t, c.container, one)
	}
}

// received is the event of a genuine delivery. PayPal alone can sign for PayPal: there what a verified body would be read as.
func received(t *testing.T, kind, body string) webhooks.Event {
	t.Helper()
	v := verifiers(t)[kind]
	signer, signs := v.(providertest.VerifySigner)
	if signs {
		return providertest.Parsed(t, signer, body)
	}
	require.Equal(t, "paypal", kind)
	reader, ok := v.(webhooks.Reader)
	require.True(t, ok)
	events := reader.Read(providertest.Unsigned(body))
	require.Len(t, events, 1)
	providertest.RequireSound(t, events[0])
	return events[0]
}
