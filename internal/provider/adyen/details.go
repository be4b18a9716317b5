package adyen

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/gateway"
)

// shopper is the data of the customer and the browser that Adyen accepts.
type shopper struct {
	Reference string       `json:"shopperReference,omitempty"`
	Email     string       `json:"shopperEmail,omitempty"`
	Name      *shopperName `json:"shopperName,omitempty"`
	Phone     string       `json:"telephoneNumber,omitempty"`
	IP        string       `json:"shopperIP,omitempty"`
	Locale    string       `json:"shopperLocale,omitempty"`
	Country   string       `json:"countryCode,omitempty"`
	Billing   *address     `json:"billingAddress,omitempty"`
	Delivery  *address     `json:"deliveryAddress,omitempty"`
	Browser   *browserInfo `json:"browserInfo,omitempty"`
	Channel   string       `json:"channel,omitempty"`
	Statement string       `json:"shopperStatement,omitempty"`
	Store     bool         `json:"storePaymentMethod,omitempty"`
	LineItems []lineItem   `json:"lineItems,omitempty"`
}

type shopperName struct {
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

// address is an address at Adyen, with all members that Adyen requires.
type address struct {
	Street     string `json:"street"`
	House      string `json:"houseNumberOrName"`
	City       string `json:"city"`
	PostalCode string `json:"postalCode"`
	Province   string `json:"stateOrProvince,omitempty"`
	Country    string `json:"country"`
}

// browserInfo has all members that Adyen requires for 3-D Secure.
type browserInfo struct {
	UserAgent      string `json:"userAgent"`
	AcceptHeader   string `json:"acceptHeader"`
	Language       string `json:"language"`
	ColorDepth     int    `json:"colorDepth"`
	ScreenHeight   int    `json:"screenHeight"`
	ScreenWidth    int    `json:"screenWidth"`
	TimeZoneOffset int    `json:"timeZoneOffset"`
	JavaEnabled    bool   `json:"javaEnabled"`
}

// minShopper is the minimum length of a shopperReference, in characters.
const minShopper = 3

// shopperOf returns the charge's data about its customer. It omits a reference that is too short for Adyen.
func shopperOf(ch gateway.Charge) shopper {
	c := ch.Customer
	s := shopper{
		Email: c.Email, Name: nameOf(c.Name), Phone: c.Phone, IP: c.IP, Locale: c.Locale, Billing: addressOf(c.Billing), Delivery: addressOf(c.Shipping),
		Browser: browserOf(ch.Browser), Statement: ch.StatementDescriptor, Store: ch.Save, LineItems: linesOf(ch),
	}
	if s.Browser != nil {
		s.Channel = "Web"
	}
	if utf8.RuneCountInString(c.Reference) >= minShopper {
		s.Reference = c.Reference
	}
	for _, a := range []*gateway.Address{c.Billing, c.Shipping} {
		if a != nil {
			s.Country = cmp.Or(s.Country, a.Country)
		}
	}
	return s
}

// nameOf splits a name at its last space. It returns nil for a name without a space, because Adyen requires both parts.
func nameOf(name string) *shopperName {
	name = strings.TrimSpace(name)
	i := strings.LastIndex(name, " ")
	if i < 0 {
		return nil
	}
	return &shopperName{FirstName: strings.TrimSpace(name[:i]), LastName: name[i+1:]}
}

var (
	houseLast  = regexp.MustCompile(`^(\S.*?)[ ,]+(\d\S*)$`)
	houseFirst = regexp.MustCompile(`^(\d\S*)[ ,]+(\S.*)$`)
)

// maxState is Adyen's limit for the length of a state's code.
const maxState = 3

// addressOf splits the first line into street and number. It returns nil for an address without a street, a city or a
// country.
func addressOf(a *gateway.Address) *address {
	if a == nil || a.Line1 == "" || a.City == "" || a.Country == "" {
		return nil
	}
	made := &address{Street: a.Line1, City: a.City, PostalCode: a.PostalCode, Country: a.Country}
	if m := houseLast.FindStringSubmatch(a.Line1); m != nil {
		made.Street, made.House = m[1], m[2]
	} else if m := houseFirst.FindStringSubmatch(a.Line1); m != nil {
		made.Street, made.House = m[2], m[1]
	}
	made.House = cmp.Or(strings.TrimSpace(made.House+" "+a.Line2), "N/A")
	if len(a.State) <= maxState {
		made.Province = a.State
	}
	return made
}

// browserOf returns nil if the user agent or the accept header is missing.
func browserOf(b *gateway.Browser) *browserInfo {
	if b == nil || b.UserAgent == "" || b.AcceptHeader == "" {
		return nil
	}
	return &browserInfo{
		UserAgent: b.UserAgent, AcceptHeader: b.AcceptHeader, Language: b.Language, ColorDepth: b.ColorDepth, ScreenHeight: b.ScreenHeight,
		ScreenWidth: b.ScreenWidth, TimeZoneOffset: b.TimeZoneOffset, JavaEnabled: b.JavaEnabled,
	}
}
