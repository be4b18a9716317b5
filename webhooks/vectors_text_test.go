package webhooks_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// vectorText is what a vector has that is not a delivery but a text with its
// signature: a challenge, the form of a payment, a return of the browser.
type vectorText struct {
	Algo           string `json:"algo"`
	KeyEncoding    string `json:"key_encoding"`
	Out            string `json:"out"`
	SignedString   string `json:"signed_string"`
	ExpectedOutput string `json:"expected_output"`
}

// vectorChecksum is what a vector of PayPal's has besides. CRCOverride stands for
// the body's checksum in what is said to be signed, as no delivery can have it.
type vectorChecksum struct {
	BodyCRC32   *uint32 `json:"body_crc32"`
	CRCOverride string  `json:"crc_override"`
}

// textSigners say how each kind signs a text, and by which scheme that is: the
// algorithm and the form of the key.
var textSigners = map[string]struct {
	scheme string
	sign   func(t *testing.T, v vector) []byte
}{
	"adyen": {"hmac-sha256 hex", func(t *testing.T, v vector) []byte {
		t.Helper()
		return decoded(t, base64.StdEncoding.DecodeString, v.header(t, "adyen", "hmacSignature"))
	}},
	"razorpay": {"hmac-sha256 utf8", func(t *testing.T, v vector) []byte {
		t.Helper()
		return decoded(t, hex.DecodeString, v.header(t, "razorpay", "X-Razorpay-Signature"))
	}},
	"robokassa": {"md5 none", func(t *testing.T, v vector) []byte {
		t.Helper()
		values := strings.Split(v.SignedString, ":")
		require.Greater(t, len(values), 3)
		return webhooks.RobokassaSum(v.Algo, values[0], values[1], values[2], values[3:]...)
	}},
	"braintree": {"hmac-sha1 sha1", challenged},
}

func checkText(t *testing.T, kind string, v vector) {
	t.Helper()
	signer, known := textSigners[kind]
	require.True(t, known, "nothing of %s signs texts", kind)
	require.Equal(t, signer.scheme, v.Algo+" "+v.KeyEncoding)
	require.True(t, v.ExpectedValid)
	sum := signer.sign(t, v)
	switch v.Out {
	case "base64":
		require.Equal(t, v.ExpectedOutput, base64.StdEncoding.EncodeToString(sum))
	case "hex":
		require.Equal(t, v.ExpectedOutput, hex.EncodeToString(sum))
	case "hex-ci":
		require.Equal(t, strings.ToLower(v.ExpectedOutput), hex.EncodeToString(sum))
	case "hex-upper-last3":
		require.Equal(t, v.ExpectedOutput, strings.ToUpper(hex.EncodeToString(sum[len(sum)-3:])))
	default:
		require.Fail(t, "an unknown form of output", v.Out)
	}
}

// header returns what a kind that signs whole bodies writes into its header for
// the text.
func (v vector) header(t *testing.T, kind, name string) string {
	t.Helper()
	d := signed(t, made(t, kind, v.config(t)), v.SignedString)
	require.Equal(t, v.SignedString, string(d.Body))
	return d.Header.Get(name)
}

// challenged returns the sum in Braintree's answer to the vector's address, whose
// challenge is the text.
func challenged(t *testing.T, v vector) []byte {
	t.Helper()
	require.Equal(t, "/webhook?bt_challenge="+v.SignedString, v.URL)
	verifier, err := webhooks.New("braintree", v.config(t))
	require.NoError(t, err)
	challenger, ok := verifier.(webhooks.Challenger)
	require.True(t, ok)
	ack, ok := challenger.Challenge(v.delivery(t))
	require.True(t, ok)
	require.Equal(t, http.StatusOK, ack.Status)
	public, sum, _ := strings.Cut(string(ack.Body), "|")
	require.Equal(t, v.PublicKey, public)
	return decoded(t, hex.DecodeString, sum)
}

func decoded(t *testing.T, decode func(string) ([]byte, error), text string) []byte {
	t.Helper()
	sum, err := decode(text)
	require.NoError(t, err)
	return sum
}

// checkChecksum requires that the signature is over the checksum without a sign,
// and not over the other one.
func checkChecksum(t *testing.T, v vector) {
	t.Helper()
	require.NotNil(t, v.BodyCRC32)
	unsigned := strconv.FormatUint(uint64(*v.BodyCRC32), 10)
	require.Equal(t, unsigned, webhooks.PayPalChecksum([]byte(v.Body)))
	require.NotEqual(t, unsigned, v.CRCOverride)
	for checksum, want := range map[string]bool{unsigned: true, v.CRCOverride: v.ExpectedValid} {
		made, err := webhooks.PayPalMade([]byte(v.CertPEM), v.Headers, v.WebhookID, checksum)
		require.NoError(t, err)
		require.Equal(t, want, made, checksum)
	}
}
