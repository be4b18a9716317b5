package kit

import (
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Device is the customer's device by the user agent of its browser. Payments in a bank's app need it.
type Device struct {
	Mobile      bool
	OS, Browser string
}

// other is the name of an unfamiliar system or browser.
const other = "Other"

// DeviceOf returns false if the user agent is missing.
func DeviceOf(b *gateway.Browser) (Device, bool) {
	if b == nil || b.UserAgent == "" {
		return Device{}, false
	}
	// The order counts: Android's user agents have Linux, and those of most browsers have Chrome and Safari.
	return Device{
		Mobile:  strings.Contains(b.UserAgent, "Mobi") || strings.Contains(b.UserAgent, "Android"),
		OS:      named(b.UserAgent, "Android:Android", "iPhone:iOS", "iPad:iOS", "Windows:Windows", "Mac OS X:macOS", "Linux:Linux"),
		Browser: named(b.UserAgent, "YaBrowser:Yandex", "SamsungBrowser:Samsung", "OPR:Opera", "Edg:Edge", "Firefox:Firefox", "FxiOS:Firefox", "Chrome:Chrome", "CriOS:Chrome", "Safari:Safari"),
	}, true
}

// named returns the name of the first mark that the user agent has.
func named(agent string, marks ...string) string {
	for _, mark := range marks {
		if part, name, _ := strings.Cut(mark, ":"); strings.Contains(agent, part) {
			return name
		}
	}
	return other
}
