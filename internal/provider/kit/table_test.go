package kit_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var errNoSum = errors.New("no sum")

// read makes an entry of the columns ID and Sum, and omits lines of the type skip.
func read(r kit.TableRow) (*gateway.Entry, error) {
	if r.Text("Type") == "skip" {
		return nil, nil
	}
	sum, err := r.Amount("Sum", "EUR")
	switch {
	case err != nil:
		return nil, err
	case sum == nil:
		return nil, errNoSum
	}
	return &gateway.Entry{ID: r.Text("id"), Movement: payment.MovementReport{Money: *sum}}, nil
}

func passed(file io.Reader) (all []string, err error) {
	err = kit.ReadTable(file, []string{"ID", "Sum"}, read, func(e gateway.Entry) error {
		all = append(all, fmt.Sprintf("%s %d", e.ID, e.Movement.Money.Minor))
		return nil
	})
	return all, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"commas":      "ID,Type,Sum\na,,1.00\nb,skip,\nc,x,2\n",
		"semicolons":  "Type;Sum;ID\r\n;1.00;a\r\nskip;;b\r\n\r\nx;2.0;c",
		"tabs":        "sum\tid\n1\ta\n2.00\tc\n",
		"byte order":  "\uFEFFID,Sum\na,1\nc,2",
		"quoted":      "\"ID\",\"Sum\",\"Type\"\n\"a\",\"1.00\",\"one, \"\"two\"\"\"\nc,\"2\",\n",
		"with blanks": " ID , Sum ,,\n a , 1 ,,\n c , 2.000 ,,\n",
	} {
		got, err := passed(strings.NewReader(file))
		require.NoError(t, err, name)
		require.Equal(t, []string{"a 100", "c 200"}, got, name)
	}
}

// An unreadable line is reported with its number, and the lines after it are read.
func TestReadLinesThatCantBeRead(t *testing.T) {
	t.Parallel()
	file := "ID,Sum\na,1\nb,1.005\n\nc\nd,\n\"e,5\nf,6\n\"g\"x,1\n" + strings.Repeat("x", 70<<10) + ",1\nh,8"
	got, err := passed(strings.NewReader(file))
	require.Equal(t, []string{"a 100", "f 600", "h 800"}, got)
	var unread *gateway.UnreadError
	require.ErrorAs(t, err, &unread)
	require.Equal(t, 6, unread.Count)
	var numbers []int
	for _, line := range unread.Lines {
		numbers = append(numbers, line.Number)
	}
	require.Equal(t, []int{3, 5, 6, 7, 9, 10}, numbers)
	require.ErrorContains(t, err, "6 lines can't be read, the first is line 3")
}

func TestReadStops(t *testing.T) {
	t.Parallel()
	enough, calls := errors.New("enough"), 0
	err := kit.ReadTable(strings.NewReader("ID,Sum\na,1\nb,x\nc,2\n"), nil, read, func(gateway.Entry) error {
		calls++
		return enough
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, 1, calls)

	broken := errors.New("the disk is gone")
	_, err = passed(io.MultiReader(strings.NewReader("ID,Sum\na,1\n"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
}

func TestReadOtherFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"": "EOF", "ID,Total\na,1\n": `no column "Sum"`, "Sum\n1\n": `no column "ID"`, "\"ID,Sum\na,1": "quotation", "<html>": `no column "ID"`,
	} {
		got, err := passed(strings.NewReader(file))
		require.Empty(t, got, file)
		require.ErrorContains(t, err, want, file)
	}
}

// endless is a table with this number of equal lines.
type endless struct {
	line string
	left int
	rest string
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if e.rest == "" {
			if e.left == 0 {
				break
			}
			e.left, e.rest = e.left-1, e.line
		}
		c := copy(p[n:], e.rest)
		n, e.rest = n+c, e.rest[c:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A file with a million lines, including unreadable lines, is read with one line in memory.
func TestReadAMillionLines(t *testing.T) {
	t.Parallel()
	const count = 500_000
	var before, after runtime.MemStats
	passed := 0
	file := io.MultiReader(strings.NewReader("ID,Sum,Type\n"), &endless{line: "a,1.00,\"x\"\nb,y,\n", left: count})
	runtime.ReadMemStats(&before)
	err := kit.ReadTable(file, []string{"ID", "Sum"}, read, func(gateway.Entry) error {
		passed++
		return nil
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Equal(t, count, passed)
	var unread *gateway.UnreadError
	require.ErrorAs(t, err, &unread)
	require.Equal(t, count, unread.Count)
	require.Len(t, unread.Lines, 100)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
}
