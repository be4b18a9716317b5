package all_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// largeBodies are bodies of half a megabyte with as many parts as fit.
func largeBodies() map[string]string {
	const size = 512 << 10
	list := func(head, item string) string {
		return head + item + strings.Repeat(","+item, (size-len(head))/(len(item)+1)-2) + "]}"
	}
	var members, fields, attributes strings.Builder
	for i := 0; members.Len() < size; i++ {
		_, _ = fmt.Fprintf(&members, `"%x":0,`, i)
		_, _ = fmt.Fprintf(&fields, "%x=&", i)
		_, _ = fmt.Fprintf(&attributes, ` a%x=""`, i)
	}
	braintree := func(xml string) string {
		return "bt_signature=a|00&bt_payload=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(xml)))
	}
	return map[string]string{
		"items":      list(`{"live":"false","notificationItems":[`, `{}`),
		"real items": list(`{"live":"false","notificationItems":[`, `{"NotificationRequestItem":{}}`),
		"events":     list(`{"events":[`, `{}`),
		"contains":   list(`{"entity":"event","event":"payment.captured","contains":[`, `"a"`),
		"members":    "{" + members.String() + `"z":0}`,
		"fields":     fields.String(),
		"same field": strings.Repeat("a=&", size/3),
		"attributes": braintree("<notification" + attributes.String()[:size*3/4] + `"></notification>`),
		"elements":   braintree("<notification>" + strings.Repeat("<a/>", size*3/16) + "</notification>"),
	}
}

// TestLargeBodiesAreCheap: reading half a megabyte takes at most 32 MiB, for any body and any kind.
//
//nolint:paralleltest // it measures the memory of the process
func TestLargeBodiesAreCheap(t *testing.T) {
	for kind, v := range verifiers(t) {
		reader, ok := v.(webhooks.Reader)
		require.True(t, ok, kind)
		for name, body := range largeBodies() {
			d := webhooks.Delivery{Method: http.MethodPost, URL: "https://pay.example/", Header: http.Header{}, Body: []byte(body), ReceivedAt: providertest.Now}
			for way, read := range map[string]func(){
				"read": func() { reader.Read(d) }, "verify": func() { _, _ = v.Verify(t.Context(), d) },
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				read()
				runtime.ReadMemStats(&after)
				require.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(32), "%s: %s %s", kind, way, name)
			}
		}
	}
}
