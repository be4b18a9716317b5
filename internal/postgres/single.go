package postgres

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// single is a statement about many rows, for one. It takes its rows as arrays, and
// to unfold those is a quarter of what a lone row costs: here unnest($1::text[]) is
// $1::text, and = ANY ($1::uuid[]) is = $1::uuid.
type single struct {
	sql string
	// elements are the arguments that it takes the only element of, by index; none
	// for a statement that has no such form.
	elements []int
}

//nolint:gochecknoglobals // constants, and what follows from them
var (
	// unfolded is how sqlc writes an array whose elements are rows.
	unfolded = regexp.MustCompile(`(?:unnest|ANY )\(\$(\d+)::(\w+)\[\]\)`)
	counted  = regexp.MustCompile(`cardinality\(\$(\d+)::\w+\[\]\)`)
	// singles has the *single of each statement that was sent.
	singles sync.Map
)

func singleOf(sql string) *single {
	if known, ok := singles.Load(sql); ok {
		s, _ := known.(*single)
		return s
	}
	s := &single{sql: unfolded.ReplaceAllString(sql, "$$$1::$2")}
	s.sql = counted.ReplaceAllString(s.sql, "1")
	if needsArray := strings.Contains(s.sql, "[]"); !needsArray {
		for _, match := range slices.Concat(unfolded.FindAllStringSubmatch(sql, -1), counted.FindAllStringSubmatch(sql, -1)) {
			number, _ := strconv.Atoi(match[1]) // digits, says the expression
			s.elements = append(s.elements, number-1)
		}
	}
	singles.Store(sql, s)
	return s
}

// plain is the write without its arrays if it is about one row, or else as it is.
func (w write) plain() (string, []any) {
	s := singleOf(w.sql)
	if len(s.elements) == 0 {
		return w.sql, w.args
	}
	args := slices.Clone(w.args)
	for _, i := range s.elements {
		array := reflect.ValueOf(w.args[i])
		if array.Len() != 1 {
			return w.sql, w.args
		}
		args[i] = array.Index(0).Interface()
	}
	return s.sql, args
}
