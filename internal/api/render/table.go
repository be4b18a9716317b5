package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/webhooks"
)

// byteOrderMark begins a file that spreadsheets are to read as UTF-8.
const byteOrderMark = "\ufeff"

// table writes items as CSV for spreadsheets: a column for each member, in the contract's order. An amount in minor units also gets a
// column in major units, and a time gets a column in this machine's time zone.
type table struct {
	out     *csv.Writer
	columns []column
}

// column is a member of an item, or a value derived from it for people.
type column struct {
	member string
	// suffix follows the member's name in the column's name; empty for the member itself.
	suffix string
}

const (
	major = "_major"
	local = "_local"
)

// newTable writes the names of the columns.
func newTable(w io.Writer, item reflect.Type) (*table, error) {
	t := &table{out: csv.NewWriter(w)}
	for field := range item.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		t.columns = append(t.columns, column{member: name})
		switch of := field.Type; {
		case name == "amount" || strings.HasPrefix(name, "amount_"):
			t.columns = append(t.columns, column{name, major})
		case of == reflect.TypeFor[gen.Micros]() || of == reflect.TypeFor[*gen.Micros]():
			t.columns = append(t.columns, column{name, local})
		}
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.member + c.suffix
	}
	_, err := io.WriteString(w, byteOrderMark)
	if err == nil {
		err = t.out.Write(names)
	}
	if err != nil {
		return nil, fmt.Errorf("write the names of the columns: %w", err)
	}
	return t, nil
}

func (t *table) write(item any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(JSON(item), &members); err != nil {
		return fmt.Errorf("read an item of %T: %w", item, err)
	}
	cells := make([]string, len(t.columns))
	for i, c := range t.columns {
		switch c.suffix {
		case major:
			cells[i] = inMajor(members[c.member], members["currency"])
		case local:
			cells[i] = inZone(members[c.member])
		default:
			cells[i] = cell(members[c.member])
		}
	}
	if err := t.out.Write(cells); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// inMajor converts an amount from minor to major units. It returns an empty text if the currency's digits are unknown.
func inMajor(amount, currency json.RawMessage) string {
	var code string
	minor, err := strconv.ParseInt(string(amount), 10, 64)
	if err != nil || json.Unmarshal(currency, &code) != nil {
		return ""
	}
	text, _ := webhooks.Money{Minor: minor, Currency: code}.Decimal()
	return text
}

// inZone is a time in this machine's time zone, in a form that spreadsheets read; empty for no time.
func inZone(value json.RawMessage) string {
	var at *time.Time
	if json.Unmarshal(value, &at) != nil || at == nil {
		return ""
	}
	return at.Local().Format(time.DateTime)
}

// cell is a value as a spreadsheet reads it. The spreadsheet never finds a formula in it, with a comma, a semicolon or a tab as its
// delimiter: https://owasp.org/www-community/attacks/CSV_Injection.
func cell(value json.RawMessage) string {
	text := string(value)
	switch {
	case text == "null":
		return ""
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return strings.ReplaceAll(text, ";", `\u003b`) // a semicolon can stand only in a string, so the JSON stays equal
	case !strings.HasPrefix(text, `"`):
		return text
	}
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return harmless(text)
}

// harmless puts an apostrophe before each text that a spreadsheet would calculate at the beginning of a cell.
func harmless(text string) string {
	var out strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if (i == 0 || slices.Contains(ends(), runes[i-1])) && calculated(runes[i:]) {
			out.WriteByte('\'')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// ends returns the runes after which a spreadsheet may begin a cell.
func ends() []rune { return []rune{';', ',', '\t', '\r', '\n'} }

// calculated reports whether a cell that begins so is a formula, blanks, quotes and marks without a width left aside. Signs of full
// width are taken for those of ASCII by some spreadsheets.
func calculated(runes []rune) bool {
	for i, r := range runes {
		switch {
		case i == 0 && strings.ContainsRune("\t\r\n", r):
			return true
		case strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", r):
			return true
		case r != '"' && r != ' ' && !unicode.In(r, unicode.Zs, unicode.Cf):
			return false
		}
	}
	return false
}
