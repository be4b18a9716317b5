package comgate_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.GenuineForm(f, newVerifier(f), nil, nil,
		comgateForm+"status=PAID&test=true",
		comgateForm+"status=PAID&label=y", // a name twice, which has no part in the proof: the whole was refused
		"transId=A&status=CANCELLED",
		"merchant=123456&test=true&price=10000&curr=CZK&label=Beatles+-+Help&refId=2010102600&email=info%40customer.com&transId=AB12-EF34-IJ56&status=PAID",
	)
}
