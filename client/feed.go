package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/client/api"
)

// Feed selects the events to read. The zero value selects all of them.
type Feed struct {
	// Types are the event types to read; empty means all.
	Types []string
	// Limit is how many events a page has at most; 0 leaves it to the server.
	Limit int
	// Moved is called with a cursor that has moved on over events of other types alone: store it, too, or it
	// expires once the events behind it are deleted. From "now" on, it is called with the first cursor as well. May be nil.
	Moved func(cursor string)
	// Wait is how long a request waits for something new, in whole seconds, at most 60; 0 means 20 seconds. Negative, the
	// reading ends where nothing is new.
	Wait time.Duration
}

const (
	// wait is how long a Feed without a Wait waits.
	wait = 20 * time.Second
	// now stands for the end of the feed at the time of the request. A later request with it would begin at a later event, so it
	// is never the cursor of an entry.
	now = "now"
)

// Entry is an event of the feed.
type Entry struct {
	Event

	// Cursor is where to go on once this event and all before it were acted on: store it with the
	// effect. Within a page it is where the page began, so that after a crash some events come again.
	Cursor string
}

// Events reads events, oldest first, from a cursor on; "" begins at the oldest stored event, "now" behind the newest. It
// waits for new events, and ends with the first error, at the latest when the context ends. Continue
// with the last entry's cursor. An event is delivered at least once. If the server's database was restored to a time before
// the cursor, reading goes on from where no event is missed, and some events come again.
func (c *Client) Events(ctx context.Context, after string, f Feed) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			p, from, err := c.pageOrRestart(ctx, after, f.from(after))
			after = from
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for i, e := range p.Items {
				if i == len(p.Items)-1 {
					after = p.NextCursor
				}
				if !yield(Entry{e, after}, nil) {
					return
				}
			}
			if len(p.Items) == 0 && f.endsAt(p.NextCursor, after) {
				return
			}
			after = p.NextCursor
		}
	}
}

// from returns the feed to read after a cursor. The first page after now has at most one event, and this event gets the page's next
// cursor. The request does not wait, so the reader soon has a cursor to store.
func (f Feed) from(after string) Feed {
	if after == now {
		f.Limit, f.Wait = 1, -1
	}
	return f
}

// endsAt calls Moved if the cursor has moved over unwanted events, and reports whether the reading ends there.
func (f Feed) endsAt(next, after string) bool {
	if f.Moved != nil && next != after {
		f.Moved(next)
	}
	return f.Wait < 0
}

// pageOrRestart reads one page. After a restore it begins where no event is missed, and returns that cursor.
func (c *Client) pageOrRestart(ctx context.Context, after string, f Feed) (p *api.Events, from string, err error) {
	p, err = c.page(ctx, after, f)
	if restart := restartAfter(err); restart != "" && restart != after {
		after = restart
		p, err = c.page(ctx, after, f)
	}
	return p, after, err
}

// restartAfter returns from where to read after a restore; empty for another error.
func restartAfter(err error) string {
	if p, refused := errors.AsType[*ProblemError](err); refused && p.RestartAfter != nil {
		return *p.RestartAfter
	}
	return ""
}

// page reads one page.
func (c *Client) page(ctx context.Context, after string, f Feed) (*api.Events, error) {
	r, err := c.API.ReadEventsWithResponse(ctx, f.params(after))
	if err != nil {
		return nil, fmt.Errorf("client: read events after %q: %w", after, err)
	}
	return read[api.Events]("read events", r.HTTPResponse, r.Body)
}

// params returns the parameters of a page's request.
func (f Feed) params(after string) *api.ReadEventsParams {
	p := &api.ReadEventsParams{}
	if after != "" {
		p.After = &after
	}
	if len(f.Types) > 0 {
		p.Type = new(strings.Join(f.Types, ","))
	}
	if f.Limit > 0 {
		p.Limit = new(strconv.Itoa(f.Limit))
	}
	if f.Wait >= 0 {
		p.Wait = new(strconv.Itoa(max(1, int(cmp.Or(f.Wait, wait).Seconds()))))
	}
	return p
}
