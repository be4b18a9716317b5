package kit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ReadTable reads the CSV tables that providers export, for the adapters that read such files.
//
// It reads a file line by line, with one line in memory, and finds columns by their names. A field can't contain a line
// break. So an unpaired quotation mark is an error of one line only.

const (
	// maxLine limits a line, in bytes.
	maxLine = 64 << 10
	// maxUnread limits the number of unreadable lines that the error contains.
	maxUnread = 100
)

var (
	errNoTable = errors.New("the file does not have the columns of this table")
	errLong    = errors.New("the line is too long")
	errQuote   = errors.New("a quotation mark without its pair")
	errCells   = errors.New("the line and the first line differ in their number of fields")
)

// TableRow is one line of a table.
type TableRow struct {
	columns map[string]int
	cells   []string
}

// Text returns the field of a column without surrounding spaces. It is empty if the column does not exist.
func (r TableRow) Text(column string) string {
	i, ok := r.columns[strings.ToLower(column)]
	if !ok {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// Amount parses an amount in major units of a currency. It returns nil for an empty field, and never rounds.
func (r TableRow) Amount(column, currency string) (*payment.Money, error) {
	text := r.Text(column)
	if text == "" {
		return nil, nil //nolint:nilnil // no amount is stated
	}
	m, err := ReadDecimal(text, currency)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", column, err)
	}
	return m, nil
}

// ReadTable calls read for each line after the first, and take for each entry. The first line contains the names of the
// columns. Read omits nil entries. It stops at an error of take and returns that error. An error of read concerns one
// line only: Read continues and returns a gateway.UnreadError at the end. If a needed column is missing, Read stops
// after the first line.
func ReadTable(file io.Reader, need []string, read func(TableRow) (*gateway.Entry, error), take func(gateway.Entry) error) error {
	in := &lines{from: bufio.NewReaderSize(file, maxLine)}
	head, err := in.next()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTable, err)
	}
	row, comma, err := heading(strings.TrimPrefix(head, "\uFEFF"), need)
	if err != nil {
		return err
	}
	var unread gateway.UnreadError
	for width := len(row.cells); ; {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLong) {
			return err
		}
		var entry *gateway.Entry
		switch {
		case err != nil:
		case line == "":
			continue
		default:
			entry, err = parse(&row, line, comma, width, read)
		}
		if err != nil {
			unread.Count++
			if len(unread.Lines) < maxUnread {
				unread.Lines = append(unread.Lines, gateway.UnreadLine{Number: in.number, Err: err})
			}
			continue
		}
		if entry == nil {
			continue
		}
		if err := take(*entry); err != nil {
			return err
		}
	}
	if unread.Count > 0 {
		return &unread
	}
	return nil
}

// parse reads one line into a row. The next line replaces the row's fields.
func parse(r *TableRow, line string, comma byte, width int, read func(TableRow) (*gateway.Entry, error)) (*gateway.Entry, error) {
	var err error
	if r.cells, err = split(line, comma, r.cells[:0]); err != nil {
		return nil, err
	}
	if len(r.cells) != width {
		return nil, errCells
	}
	return read(*r)
}

// heading reads the first line. It tries several separators and takes the separator that gives all needed columns.
func heading(line string, need []string) (TableRow, byte, error) {
	var failed error
	for _, comma := range []byte(",;\t") {
		cells, err := split(line, comma, nil)
		columns := make(map[string]int, len(cells))
		for i, name := range cells {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				columns[name] = i
			}
		}
		i := slices.IndexFunc(need, func(name string) bool { _, ok := columns[strings.ToLower(name)]; return !ok })
		switch {
		case err == nil && i < 0:
			return TableRow{columns: columns, cells: cells}, comma, nil
		case err == nil && (failed == nil || len(cells) > 1):
			failed = fmt.Errorf("it has no column %q", need[i])
		case failed == nil:
			failed = err
		}
	}
	return TableRow{}, 0, fmt.Errorf("%w: %w", errNoTable, failed)
}

// split appends the fields of a line to cells.
func split(line string, comma byte, cells []string) ([]string, error) {
	for {
		if !strings.HasPrefix(line, `"`) {
			i := strings.IndexByte(line, comma)
			if i < 0 {
				return append(cells, line), nil
			}
			cells, line = append(cells, line[:i]), line[i+1:]
			continue
		}
		end := 1
		for {
			i := strings.IndexByte(line[end:], '"')
			if i < 0 {
				return nil, errQuote
			}
			end += i + 1
			if end == len(line) || line[end] != '"' {
				break
			}
			end++
		}
		cells = append(cells, strings.ReplaceAll(line[1:end-1], `""`, `"`))
		switch {
		case end == len(line):
			return cells, nil
		case line[end] != comma:
			return nil, errQuote
		}
		line = line[end+1:]
	}
}

// lines reads the lines of a file.
type lines struct {
	from   *bufio.Reader
	number int
}

// next returns the next line without its line break. It returns io.EOF after the last line, and errLong in the place of
// a line that is too long.
func (l *lines) next() (string, error) {
	line, err := l.from.ReadSlice('\n')
	if len(line) == 0 && err != nil {
		return "", err //nolint:wrapcheck // io.EOF, or the file's own error
	}
	l.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.from.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err //nolint:wrapcheck // the file's own error
		}
		return "", errLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err //nolint:wrapcheck // the file's own error
	}
	return string(bytes.TrimRight(line, "\r\n")), nil
}
