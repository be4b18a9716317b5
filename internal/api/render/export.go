package render

import (
	"bufio"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/labstack/echo/v4"
)

// WriteExport writes all items of a list, as lines of JSON or as CSV. It holds a page of them at a time.

// pageTime is how long a peer may take to accept a page; a slower one is dropped.
const pageTime = 60 * time.Second

// ExportPages yields the pages of a list; it ends with false, or with an error.
type ExportPages[T any] func() (items []T, more bool, err error)

// WriteExport writes all items of a list after its first page was read. A later error can't change the status any more: Write closes the
// connection before the body's end, and returns the error for the log.
func WriteExport[T any](w http.ResponseWriter, f ExportFormat, first []T, rest ExportPages[T]) error {
	h := w.Header()
	h.Set(echo.HeaderContentType, f.contentType())
	h.Set(echo.HeaderCacheControl, "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set(echo.HeaderVary, echo.HeaderAccept)
	control := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriter(w)
	write, err := writer[T](f, out)
	for items, more := first, true; err == nil && more; {
		_ = control.SetWriteDeadline(time.Now().Add(pageTime)) //nolint:forbidigo // the socket's clock
		for _, item := range items {
			if err = write(item); err != nil {
				break
			}
		}
		if err == nil {
			err = out.Flush()
		}
		if err == nil {
			err = control.Flush()
		}
		if err == nil {
			items, more, err = rest()
		}
	}
	if err != nil {
		_ = control.SetWriteDeadline(time.Unix(1, 0)) // the end of the body is not sent
	}
	return err
}

// writer writes one item.
func writer[T any](f ExportFormat, out io.Writer) (func(T) error, error) {
	if f == Lines {
		return func(item T) error {
			_, err := out.Write(JSON(item))
			return err //nolint:wrapcheck // it means that the peer has gone
		}, nil
	}
	t, err := newTable(out, reflect.TypeFor[T]())
	return func(item T) error {
		err := t.write(item)
		t.out.Flush()
		return err
	}, err
}
