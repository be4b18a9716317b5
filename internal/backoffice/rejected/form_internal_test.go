package rejected

import (
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// plain is a box that hides nothing.
type plain struct{}

func (plain) Seal(text, aad []byte) []byte { return append(bytes.Clone(aad), text...) }

func (plain) Open(sealed, aad []byte) ([]byte, error) {
	text, ours := bytes.CutPrefix(sealed, aad)
	if !ours {
		return nil, errors.New("another's")
	}
	return text, nil
}

func TestForm(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	at := time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.UTC)
	for name, d := range map[string]webhooks.Delivery{
		"whole": {
			Method: "POST", URL: "https://a/b?c=\xff", Topic: "t/\xfe", Header: http.Header{"Authorization": {"Basic YQ=="}, "X": {"a", "\xff"}},
			Body: []byte("\x00\xff\n{}"), RemoteAddr: netip.MustParseAddr("2001:db8::1"), ReceivedAt: at,
		},
		"get": {Method: "GET", URL: "/?OutSum=1", Header: http.Header{}, ReceivedAt: at},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sealed, err := seal(plain{}, "acc", id, d)
			require.NoError(t, err)
			again, err := open(plain{}, "acc", id, sealed)
			require.NoError(t, err)
			require.Equal(t, d, again)
			_, err = open(plain{}, "other", id, sealed)
			require.Error(t, err)
			_, err = open(plain{}, "acc", uuid.New(), sealed)
			require.Error(t, err)
		})
	}
	sealed, err := seal(plain{}, "acc", id, webhooks.Delivery{Header: http.Header{"Cookie": {"a=b"}}, ReceivedAt: at})
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "Cookie")
}

func FuzzForm(f *testing.F) {
	id := uuid.New()
	whole, err := seal(plain{}, "acc", id, webhooks.Delivery{
		Method: "POST", URL: "https://a/b", Header: http.Header{"X": {"y"}}, Body: []byte("{}"), RemoteAddr: netip.MustParseAddr("192.0.2.1"), ReceivedAt: time.Unix(1, 2),
	})
	require.NoError(f, err)
	f.Add(whole[len(bound("acc", id)):], []byte("{}"), "value")
	f.Add([]byte{}, []byte{0xff}, "\xff")
	f.Fuzz(func(t *testing.T, text, body []byte, value string) {
		_, _ = open(plain{}, "acc", id, append(bound("acc", id), text...)) // whatever it is, it does not panic
		d := webhooks.Delivery{Method: value, URL: value, Topic: value, Header: http.Header{"X": {value}}, Body: body, ReceivedAt: time.Unix(1, 2).UTC()}
		sealed, err := seal(plain{}, "acc", id, d)
		require.NoError(t, err)
		again, err := open(plain{}, "acc", id, sealed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(body, again.Body))
		require.Equal(t, [3]string{value, value, value}, [3]string{again.Method, again.URL, again.Topic})
		require.Equal(t, d.Header, again.Header)
	})
}
