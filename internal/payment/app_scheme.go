package payment

import (
	"regexp"
	"slices"
)

// appScheme is the form of a scheme, in lower case (RFC 3986, 3.1).
var appScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// notOfApps are schemes that the browser or the phone itself handles: such an address could run a script, show a file or start any app.
var notOfApps = []string{ //nolint:gochecknoglobals // a table
	"about", "android-app", "blob", "chrome", "data", "file", "filesystem", "ftp", "http", "https", "intent", "javascript", "mailto", "sms", "tel",
	"vbscript", "view-source", "ws", "wss",
}

// IsAppScheme reports whether a scheme may belong to a shop's app, as myshop in myshop://paid.
func IsAppScheme(scheme string) bool {
	return appScheme.MatchString(scheme) && !slices.Contains(notOfApps, scheme)
}
