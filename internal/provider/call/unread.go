package call

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Unread counts the items of a list that can't be read, so that none of them hides the others.
type Unread struct {
	count int
	first error
}

// Err wraps gateway.ErrUnreadable and the first error; nil if all could be read.
func (u *Unread) Err() error {
	if u.count == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d items, the first: %w", gateway.ErrUnreadable, u.count, u.first)
}

// Count is how many items could not be read.
func (u *Unread) Count() int { return u.count }

// Add counts an item that can't be read for a reason.
func (u *Unread) Add(err error) {
	if u.count++; u.first == nil {
		u.first = err
	}
}

// After is the error of a list that ended with err: what stopped it, or else Err.
func (u *Unread) After(err error) error {
	if err != nil {
		return err
	}
	return u.Err()
}

// Pass passes what an item of a list has to take, whose error it returns. An item that is no T, or of which
// read returns an error, is counted as unread.
func Pass[T, E any](u *Unread, item json.RawMessage, read func(T) ([]E, error), take func(E) error) error {
	var object T
	err := json.Unmarshal(item, &object)
	var has []E
	if err == nil {
		has, err = read(object)
	}
	return Take(u, has, err, take)
}

// Take is Pass of what was read of an item that is no JSON, or of the error of reading it.
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
