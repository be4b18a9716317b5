package robokassa_test

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

var (
	signedName = regexp.MustCompile(`^(OutSum|out_summ|InvId|inv_id|SignatureValue|crc|(?is:shp_.*))$`)
	hiddenShop = regexp.MustCompile(`(?i):shp_`)
)

// ambiguous reports whether what was signed has a second reading: the hash is over the values with ":" between them, so
// that one with a ":" in it may have been two, and the provider's own choice of two values is not known.
func ambiguous(d webhooks.Delivery, err error) bool {
	form, parseErr := url.ParseQuery(string(d.Body))
	if parseErr != nil || !errors.Is(err, webhooks.ErrSignatureMalformed) {
		return false
	}
	for name, values := range form {
		switch text := strings.Join(values, "\n"); {
		case !signedName.MatchString(name):
		case slices.ContainsFunc(values, func(value string) bool { return value != values[0] }):
			return true
		case !strings.HasPrefix(strings.ToLower(name), "shp_") && strings.Contains(text, ":"):
			return true
		case strings.HasPrefix(strings.ToLower(name), "shp_") && (strings.Contains(name, "=") || hiddenShop.MatchString(name+text)):
			return true
		}
	}
	return false
}

func FuzzGenuine(f *testing.F) {
	providertest.GenuineForm(f, newVerifier(f), ambiguous, nil,
		robokassaForm, "OutSum=1&InvId=0&Shp_a=&shp_B=%3a", "out_summ=5&inv_id=6&IsTest=1", "OutSum=100&InvId=58",
		robokassaForm+"&EMail=c%40d.example", // a name twice that the hash does not cover: the whole was refused
		"OutSum=1&InvId=1&Shp_0%0A=x",        // a name of two lines, which ambiguous itself took for an unsigned one
		"OutSum=1e3&InvId=5x",                // what is no number and can be read in one way only was refused
	)
}
