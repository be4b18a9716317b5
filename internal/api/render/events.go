package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Events renders a page of the feed.
func Events(p outbox.Page) gen.Events {
	return gen.Events{Items: mapped(p.Events, Event), NextCursor: p.Next.String()}
}

// Event renders an event as the feed, endpoints and streams have it.
func Event(e outbox.Event) gen.Event {
	return gen.Event{ID: e.ID.String(), Type: e.Type, CreatedAt: gen.Micros(e.CreatedAt), Subject: e.Subject, Version: e.Version, Data: e.Payload}
}
