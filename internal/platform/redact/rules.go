package redact

import (
	"math/big"
	"regexp"
	"strings"
)

// plain makes lastFour, last_four and Last-Four alike.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", "@", "", "#", "", "$", "", ":", "").Replace(name))
}

// foreign reports whether merchants or customers fill a container, or all of it is
// about a person.
func foreign(name string) bool { return containers[plain(name)] }

// safe reports whether a value may be shown under a name: a rule must allow both.
func safe(name, value string, beside map[string]any) bool {
	switch name = plain(name); {
	case states[name]:
		return isState(value) || truth.MatchString(value) || strings.HasSuffix(name, "code") && short.MatchString(value)
	case providerIDs[name]:
		return isID(value)
	case merchantIDs[name]:
		return isID(value) && !longNumber.MatchString(value)
	case amounts[name]:
		return number.MatchString(value) && !CardNumberIn(value)
	case name == "value":
		return number.MatchString(value) && (beside["currency"] != nil || beside["currency_code"] != nil)
	case times[name]:
		return moment.MatchString(value)
	case currencies[name]:
		return letters.MatchString(value)
	case lastDigits[name]:
		return four.MatchString(value)
	}
	return false
}

// The forms of values. No form can hold a space between words, an @ or a + before digits.
var (
	state       = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.\-]{0,63}$`)
	truth       = regexp.MustCompile(`^(?i:true|false|yes|no|y|n|0|1)$`)
	short       = regexp.MustCompile(`^[0-9]{1,6}$`)
	identifier  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_\-]{0,127}$`)
	redactDigit = regexp.MustCompile(`[0-9]`)
	longNumber  = regexp.MustCompile(`^[0-9\-]{10,}$`)
	number      = regexp.MustCompile(`^-?[0-9]{1,13}([.,][0-9]{1,6})?$`)
	moment      = regexp.MustCompile(`^(20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,18}(Z|[+-][0-9]{2}:?[0-9]{2})?|1[0-9]{9}([0-9]{3})?)$`)
	letters     = regexp.MustCompile(`^[A-Za-z]{3}$`)
	four        = regexp.MustCompile(`^[0-9]{4}$`)
	iban        = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	cardEnd     = regexp.MustCompile(`^[0-9 *xX•.\-]{4,40}([0-9]{4})$`)
)

// isState reports whether a text is a word of a program's, such as
// payment_intent.succeeded: a number in it would be personal data.
func isState(text string) bool {
	return state.MatchString(text) && len(redactDigit.FindAllString(text, -1)) <= 4
}

// isID reports whether a text is an id and neither a card's number nor an IBAN.
func isID(text string) bool {
	return identifier.MatchString(text) && redactDigit.MatchString(text) && !isCard(text) && !CardNumberIn(text) && !isIBAN(text)
}

// isCard reports whether the digits of a text are a card's number by their length
// and check digit (ISO/IEC 7812-1).
func isCard(text string) bool {
	text = strings.NewReplacer("-", "", "_", "").Replace(text)
	if len(text) < 12 || len(text) > 19 {
		return false
	}
	sum := 0
	for i := range len(text) {
		d := int(text[len(text)-1-i]) - '0'
		if d < 0 || d > 9 {
			return false
		}
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// isIBAN checks a text by ISO 13616: the number made of it is 1 modulo 97.
func isIBAN(text string) bool {
	if !iban.MatchString(text) {
		return false
	}
	var digits strings.Builder
	for _, c := range text[4:] + text[:4] {
		if c >= 'A' {
			digits.WriteString(big.NewInt(int64(c-'A') + 10).String())
			continue
		}
		digits.WriteRune(c)
	}
	n, ok := new(big.Int).SetString(digits.String(), 10)
	return ok && new(big.Int).Mod(n, big.NewInt(97)).Int64() == 1
}

func isCardNumber(name string) bool { return cardNumbers[plain(name)] }

// lastFour shows the end of a card's number.
func lastFour(text string) string {
	if m := cardEnd.FindStringSubmatch(text); m != nil {
		return "…" + m[1]
	}
	return hidden
}

func set(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

// The member names, without separators and in lower case, by the kind of their values.
//
//nolint:gochecknoglobals // tables
var (
	containers = set(`metadata meta customdata custom customfields additionaldata additionalinformation passthrough notes receipt
		customer customerdetails customeraccount shopper payer payee buyer billing billingdetails billingaddress shipping shippingdetails
		shippingaddress address contact owner name consumer recipient sender cardholder evidence headers phones`)
	states = set(`type status state substatus event eventtype eventcode eventname action resource resourcetype object entity kind success
		live livemode mode testmode test environment paymentstatus refundstatus paymentmethod paymentmethodtype brand cardbrand cardtype
		network scheme funding method capturemethod capture phase cause code errorcode failurecode declinecode reasoncode responsecode
		networkstatus operation operations operationtype reason failurereason cancellationreason result rel sequencetype flow origin
		paymentinstrumenttype contains`)
	providerIDs = set(`id eventid paymentid paymentintent payment charge chargeid refund refundid capture captureid dispute disputeid
		transactionid transid txnid pspreference originalreference parentpayment parentid parentevent session sessionid checkoutid requestid
		actionid entityid notificationid latestcharge balancetransaction batchid dataid resourceid saleid authorizationid mandate
		subscription subscriptionid`)
	merchantIDs = set(`reference merchantreference orderid orderref clientreferenceid customid invoiceid invid invoicenumber refid
		idempotencykey externalid ordernumber paymentattemptid`)
	amounts = set(`amount total subtotal grandtotal tax fee fees amountcaptured amountrefunded amountreceived amountcapturable amounttotal
		amountsubtotal amountpaid amountdue amountdeducted outsum incsum sum price paymentamount baseamount minoramount grossamount netamount`)
	times = set(`created createdat createtime createdon updated updatedat updatetime eventdate timestamp occurredat processedon datetime time
		paidat capturedat authorizedat canceledat cancelledat expiresat failedat billedat sentat publishtime begin`)
	currencies  = set(`currency currencycode paymentcurrency currencyisocode curr fxcurrency`)
	lastDigits  = set(`cardsummary last4 lastdigits lastfour lastfourdigits cardlastfour last4digits`)
	cardNumbers = set(`pan cardnumber maskedpan maskednumber maskedcard cardmask cardpan`)
)
