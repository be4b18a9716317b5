package providertest

import (
	"encoding/xml"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// element is an element of XML with its content.
type element struct {
	XMLName  xml.Name   `xml:""`
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

// markup are the values that replace an element's text, one after the other, as they stand in the document.
var markup = []string{
	"", "null", "0", "-1", "19.999", "1,5", "1e3", "99999999999999999999", "XYZ", "&#x1F600;", "&lt;id&gt;", "<id>x</id>",
	"<amount>1.00</amount><amount>2.00</amount>", "<transaction/>", "2014-03-01", "<![CDATA[ x ]]>", "&unknown;", "</", "credit", "settled",
}

// GenuineXML fuzzes genuine deliveries of an XML document as [Genuine] does those of JSON: one element is deleted, comes
// twice, or has something else in it, and the delivery is signed again. It is never refused.
func GenuineXML(f *testing.F, name string, v VerifySigner, documents ...string) {
	f.Helper()
	for i, document := range append(samples(f, name, "*.xml"), documents...) {
		for how := range len(markup) + 2 {
			f.Add([]byte(document), uint(i+how), uint(how))
		}
	}
	f.Fuzz(func(t *testing.T, document []byte, place, how uint) {
		var root element
		if xml.Unmarshal(document, &root) != nil {
			return
		}
		at := int(place % uint(root.size()))
		changed, err := xml.Marshal(root.marked(&at))
		if err != nil {
			return // a name that can be read and not be written
		}
		d := Unsigned(mutatedMark(string(changed), how))
		require.NoError(t, v.Sign(&d))
		requireTaken(t, v, d, nil)
	})
}

// size is the number of elements in it, itself included.
func (e element) size() int {
	n := 1
	for _, child := range e.Children {
		n += child.size()
	}
	return n
}

// mark is the name of the attribute that the element to be changed has.
const mark = "mutate"

// marked returns the element with the mark at the element of that place. The marked element loses its content.
func (e element) marked(at *int) element {
	if *at--; *at == -1 {
		return element{XMLName: e.XMLName, Attrs: []xml.Attr{{Name: xml.Name{Local: mark}, Value: "1"}}, Text: "?"}
	}
	children := make([]element, len(e.Children))
	for i, child := range e.Children {
		children[i] = child.marked(at)
	}
	e.Children = children
	return e
}

var markPattern = regexp.MustCompile(`(<[^<>]*) ` + mark + `="1">\?(</[^<>]*>)`)

// mutatedMark changes the marked element.
func mutatedMark(document string, how uint) string {
	to := ""
	switch how %= uint(len(markup) + 2); how {
	case 0:
	case 1:
		to = "$1>1.00$2$1>2.00$2"
	default:
		to = "$1>" + markup[how-2] + "$2"
	}
	return markPattern.ReplaceAllString(document, to)
}
