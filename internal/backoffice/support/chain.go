package support

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Link is an entry of the audit log as it is chained.
type Link struct {
	AuditEntry

	Position       int64
	Previous, Hash []byte
	// Order is OrderID, nil for NULL; DetailText is Detail as the storage writes it.
	Order      *string
	DetailText string
}

// Chain is how far the audit log was followed. The zero Chain is its beginning.
type Chain struct {
	Head

	// Known is an earlier head, to compare with; zero for no comparison. A chain that was rebuilt, or cut at its end, lacks this head.
	Known Head
	// Broken is where the chain ends too early; nil where it does not.
	Broken *Break
	// gap is the place of missing entries while no later entry names them as purged. purged is the last missing entry; before is the head
	// before the gap.
	gap            *Break
	purged, before Head
}

// Head is the last entry of a chain: the number of entries, and the hash of the last of them.
type Head struct {
	Entries int64
	Hash    Hash
}

// ParseHead parses ENTRIES:HASH. The empty text is no head.
func ParseHead(text string) (Head, error) {
	if text == "" {
		return Head{}, nil
	}
	number, digits, _ := strings.Cut(text, ":")
	entries, err := strconv.ParseInt(number, 10, 64)
	raw, errHex := hex.DecodeString(digits)
	if err != nil || errHex != nil || entries < 1 || len(raw) != sha256.Size {
		return Head{}, errHead
	}
	return Head{entries, Hash(raw)}, nil
}

var errHead = errors.New("must be ENTRIES:HASH, as in the log: a number and 64 hexadecimal digits")

// String returns ENTRIES:HASH.
func (h Head) String() string { return strconv.FormatInt(h.Entries, 10) + ":" + h.Hash.String() }

// Hash is the hash of an entry, zero before the first.
type Hash [sha256.Size]byte

// String returns the hash in lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Break is the first entry that does not follow from the entries before it. Later entries prove nothing.
type Break struct {
	// Position is the position of the expected entry; EntryID is the id of the entry found in its place.
	Position int64
	EntryID  uuid.UUID
	Text     string
}

// String returns the position and the cause.
func (b *Break) String() string {
	if b.EntryID == uuid.Nil {
		return fmt.Sprintf("%d: %s", b.Position, b.Text)
	}
	return fmt.Sprintf("%d (%s): %s", b.Position, b.EntryID, b.Text)
}

// ChainStore reads the audit log in the order in which it is chained.
type ChainStore interface {
	// AuditChain returns the entries behind a position, limit of them at most.
	AuditChain(ctx context.Context, after int64, limit int) ([]Link, error)
}

// Follow checks the entries that follow, limit of them at most, by hashing them again, and reports whether there may be more.
func (c *Chain) Follow(ctx context.Context, from ChainStore, limit int) (more bool, err error) {
	links, err := from.AuditChain(ctx, c.Entries, limit)
	if err != nil {
		return false, err
	}
	for i := range links {
		if i == 0 {
			c.skip(&links[i])
		}
		if c.add(&links[i]); c.Broken != nil {
			return false, nil
		}
	}
	if len(links) == limit {
		return true, nil
	}
	if c.gap != nil {
		c.breaks(&Link{}, "")
		return false, nil
	}
	if c.Entries < c.Known.Entries {
		c.breaks(&Link{}, "the log ends with entry %d, but it had %d entries", c.Entries, c.Known.Entries)
	}
	return false, nil
}

// Recheck breaks the chain if its last entry is not there as it was followed: the end of the log was deleted since, or written anew.
func (c *Chain) Recheck(ctx context.Context, from ChainStore) error {
	if c.Broken != nil || c.Entries == 0 {
		return nil
	}
	links, err := from.AuditChain(ctx, c.Entries-1, 1)
	switch {
	case err != nil:
		return err
	case len(links) == 0:
		c.Broken = &Break{Position: c.Entries, Text: "the entry is missing: the end of the log was deleted"}
	case links[0].Position == c.Entries && !bytes.Equal(links[0].Hash, c.Hash[:]):
		c.Broken = &Break{Position: c.Entries, EntryID: links[0].ID, Text: "the entry had another hash before: the log was rewritten"}
	}
	return nil
}

// skip lets the chain begin behind entries that may have been purged, before or during the check. They were purged if a later entry
// names the last of them. Of the purged entries only the last can be compared with a known head.
func (c *Chain) skip(l *Link) {
	if l.Position <= c.Entries+1 || len(l.Previous) != sha256.Size {
		return
	}
	c.gap = &Break{Position: c.Entries + 1, EntryID: l.ID, Text: fmt.Sprintf("entry %d is missing, the next is %d", c.Entries+1, l.Position)}
	c.purged = Head{l.Position - 1, Hash(l.Previous)}
	switch known := c.Known.Entries; {
	case known > c.Entries && known < c.purged.Entries:
		c.Broken = &Break{Position: known, Text: fmt.Sprintf("the entry was purged, like all entries up to %d, so it can't be compared; give a later head", c.purged.Entries)}
	case known == c.purged.Entries && c.Known != c.purged:
		c.Broken = &Break{Position: known, Text: "the entry had another hash before: the log was rewritten"}
	}
	c.before, c.Head = c.Head, c.purged
}

func (c *Chain) add(l *Link) {
	if c.Broken != nil {
		return
	}
	next := c.Entries + 1
	sum := l.sum()
	switch {
	case l.Position != next:
		c.breaks(l, "entry %d is missing, the next is %d", next, l.Position)
	case string(l.Previous) != string(c.Hash[:]):
		c.breaks(l, "the entry does not follow the previous entry")
	case string(l.Hash) != string(sum[:]):
		c.breaks(l, "the entry was changed: its hash does not match")
	case next == c.Known.Entries && sum != c.Known.Hash:
		c.breaks(l, "the entry had another hash before: the log was rewritten")
	default:
		c.Head = Head{next, sum}
		if l.Action == PurgedAudit && l.Target == c.purged.String() {
			c.gap = nil
		}
	}
}

func (c *Chain) breaks(l *Link, format string, args ...any) {
	if c.gap != nil { // the gap comes before the break found now
		c.Broken, c.gap, c.Head = c.gap, nil, c.before
		return
	}
	c.Broken = &Break{Position: c.Entries + 1, EntryID: l.ID, Text: fmt.Sprintf(format, args...)}
}

// sum returns the hash of the entry, as the function audit_hash of the database does.
func (l *Link) sum() Hash {
	var text strings.Builder
	for i, f := range l.fields() {
		if i > 0 {
			text.WriteByte(',')
		}
		if f == nil {
			text.WriteByte('-')
			continue
		}
		_, _ = fmt.Fprintf(&text, "%d:%s", len(*f), *f)
	}
	return sha256.Sum256([]byte(text.String()))
}

// fields returns the hashed values in their order; nil is NULL.
func (l *Link) fields() []*string {
	var attempt *string
	if l.AttemptID != nil {
		attempt = new(l.AttemptID.String())
	}
	fields := []*string{
		new(strconv.FormatInt(l.Position, 10)), new(hex.EncodeToString(l.Previous)), new(l.ID.String()), new(l.ActionID.String()),
		&l.Actor, new(string(l.Action)), &l.TargetType, &l.Target, l.Order, attempt, &l.Reason, &l.Address, &l.RequestID,
		new(string(l.Outcome)), &l.DetailText, new(strconv.FormatInt(l.At.UnixMicro(), 10)),
	}
	for _, r := range l.Roles {
		fields = append(fields, new(string(r)))
	}
	return fields
}
