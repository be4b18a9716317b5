package tbank_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "tbank", newVerifier(f), nil,
		tbankBody("CONFIRMED", ""),
	)
}
