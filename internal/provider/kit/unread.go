package kit

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Unread counts the unreadable items of a list, so that an unreadable item does not hide the others.
type Unread struct {
	count int
	first error
}

// Err returns an error that wraps gateway.ErrUnreadable and the first item's error. It returns nil if all items were
// readable.
func (u *Unread) Err() error {
	if u.count == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d items, the first: %w", gateway.ErrUnreadable, u.count, u.first)
}

// Count returns the number of unreadable items.
func (u *Unread) Count() int { return u.count }

// Add counts an unreadable item and keeps the first error.
func (u *Unread) Add(err error) {
	if u.count++; u.first == nil {
		u.first = err
	}
}

// After returns the error of a list that ended with err: err itself, or Err if err is nil.
func (u *Unread) After(err error) error {
	if err != nil {
		return err
	}
	return u.Err()
}

// Pass reads an item of a list, passes the results to take, and returns take's error. It counts the item as unread if it
// can't be decoded as T or read returns an error.
func Pass[T, E any](u *Unread, item json.RawMessage, read func(T) ([]E, error), take func(E) error) error {
	var object T
	err := json.Unmarshal(item, &object)
	var has []E
	if err == nil {
		has, err = read(object)
	}
	return Take(u, has, err, take)
}

// Take is Pass for an item that is not JSON: has and err are the results of reading the item.
func Take[E any](u *Unread, has []E, err error, take func(E) error) error {
	if err != nil {
		u.Add(err)
		return nil
	}
	for _, one := range has {
		if err := take(one); err != nil {
			return err
		}
	}
	return nil
}
