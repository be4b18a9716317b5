// Package current has a map that is replaced as a whole while others read it.
package current

import (
	"maps"
	"sync/atomic"
)

// Map is a map by name that may be replaced while it is read. A reader sees the map before or the map after, never a
// part of each; two reads may see two maps. Reading takes no lock. A nil Map is empty.
type Map[V any] struct{ now atomic.Pointer[map[string]V] }

// Of returns a Map with the entries of m, which must not change any more.
func Of[V any](m map[string]V) *Map[V] {
	c := &Map[V]{}
	c.Replace(m)
	return c
}

// Get returns the entry of a name, the zero value for a name without one.
func (c *Map[V]) Get(name string) V {
	v, _ := c.Find(name)
	return v
}

// Find returns the entry of a name, and whether there is one.
func (c *Map[V]) Find(name string) (V, bool) {
	v, ok := c.all()[name]
	return v, ok
}

// All returns a copy of the map as it is now.
func (c *Map[V]) All() map[string]V { return maps.Clone(c.all()) }

// Replace has all reads from now on see m, which must not change any more.
func (c *Map[V]) Replace(m map[string]V) { c.now.Store(&m) }

func (c *Map[V]) all() map[string]V {
	if c == nil {
		return nil
	}
	if m := c.now.Load(); m != nil {
		return *m
	}
	return nil
}
