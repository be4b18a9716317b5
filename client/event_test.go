package client_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const (
	secret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	retired = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	news    = `{"id":"evt_1","type":"order.paid","created_at":"2026-03-02T10:00:01.000002Z","subject":"A-1","version":3,"data":{"order_id":"A-1"}}`
)

// signed returns the headers of a delivery, as our own signer makes them.
func signed(t *testing.T, id, body string, at time.Time) http.Header {
	t.Helper()
	v, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	d := webhooks.Delivery{Header: http.Header{}, Body: []byte(body), ReceivedAt: at}
	d.Header.Set("Webhook-Id", id)
	require.NoError(t, v.Sign(&d))
	h := http.Header{}
	for name, values := range d.Header {
		h.Set(name, values[0])
	}
	return h
}

func TestVerifyNews(t *testing.T) {
	t.Parallel()
	h := signed(t, "evt_1", news, time.Now())
	for name, secrets := range map[string][]string{"one": {secret}, "rolled": {retired, secret}, "rolled, the other way": {secret, retired}} {
		e, err := client.ParseEvent(secrets, h, []byte(news))
		require.NoError(t, err, name)
		require.Equal(t, client.Event{
			ID: "evt_1", Type: "order.paid", CreatedAt: time.Date(2026, 3, 2, 10, 0, 1, 2000, time.UTC), Subject: "A-1", Version: 3, Data: []byte(`{"order_id":"A-1"}`),
		}, e)
	}
}

func TestVerifyNewsRefuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good := signed(t, "evt_1", news, now)
	without := func(name string) http.Header { h := good.Clone(); h.Del(name); return h }
	with := func(name, value string) http.Header { h := good.Clone(); h.Set(name, value); return h }
	for name, c := range map[string]struct {
		secrets []string
		header  http.Header
		body    string
		want    error
	}{
		"another secret":    {[]string{retired}, good, news, client.ErrNotGenuine},
		"another body":      {[]string{secret}, good, news + " ", client.ErrNotGenuine},
		"another id":        {[]string{secret}, with("Webhook-Id", "evt_2"), news, client.ErrNotGenuine},
		"another time":      {[]string{secret}, with("Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10)), news, client.ErrNotGenuine},
		"no signature":      {[]string{secret}, without("Webhook-Signature"), news, client.ErrNotGenuine},
		"no id":             {[]string{secret}, without("Webhook-Id"), news, client.ErrNotGenuine},
		"no time":           {[]string{secret}, without("Webhook-Timestamp"), news, client.ErrNotGenuine},
		"too old":           {[]string{secret}, signed(t, "evt_1", news, now.Add(-6*time.Minute)), news, client.ErrNotGenuine},
		"of the future":     {[]string{secret}, signed(t, "evt_1", news, now.Add(6*time.Minute)), news, client.ErrNotGenuine},
		"no secret":         {nil, good, news, client.ErrNoSecret},
		"an empty secret":   {[]string{""}, good, news, client.ErrNoSecret},
		"an empty secret 2": {[]string{secret + "x", "whsec_"}, good, news, nil},
		"an id of another":  {[]string{secret}, signed(t, "evt_2", news, now), news, nil},
		"no event":          {[]string{secret}, signed(t, "evt_1", "[]", now), "[]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.ParseEvent(c.secrets, c.header, []byte(c.body))
			require.Error(t, err)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
		})
	}
	_, err := client.ParseEvent([]string{secret}, signed(t, "evt_1", news, now.Add(-4*time.Minute)), []byte(news))
	require.NoError(t, err, "late, but not too late")
}
