package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/paylatch/paylatch/internal/api/render"
)

// table writes items as CSV: a column for each member, in the contract's order.
type table struct {
	out     *csv.Writer
	columns []string
}

// newTable writes the names of the columns.
func newTable(w io.Writer, item reflect.Type) (*table, error) {
	t := &table{out: csv.NewWriter(w)}
	for field := range item.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		t.columns = append(t.columns, name)
	}
	if err := t.out.Write(t.columns); err != nil {
		return nil, fmt.Errorf("write the names of the columns: %w", err)
	}
	return t, nil
}

func (t *table) write(item any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(render.JSON(item), &members); err != nil {
		return fmt.Errorf("read an item of %T: %w", item, err)
	}
	cells := make([]string, len(t.columns))
	for i, name := range t.columns {
		cells[i] = cell(members[name])
	}
	if err := t.out.Write(cells); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// cell is a value as a spreadsheet reads it: a text that it would calculate has an apostrophe before it.
func cell(value json.RawMessage) string {
	text := string(value)
	switch {
	case text == "null":
		return ""
	case !strings.HasPrefix(text, `"`):
		return text
	}
	if err := json.Unmarshal(value, &text); err == nil && text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		text = "'" + text
	}
	return text
}
