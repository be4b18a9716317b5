package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/paylatch/paylatch/internal/platform/datadir"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// derivedLength is the length of every derived key, in bytes.
const derivedLength = 32

// derive makes a key for one purpose, so that no key serves two purposes.
func derive(secret []byte, purpose string) ([]byte, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("a key must be at least %d bytes long", minSecret)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, derivedLength)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return key, nil
}

// Key is a key of the ring from which the service derives its own keys. The first key of the ring makes tokens and sealed texts,
// and all keys accept them. A text contains the id of its key.
type Key struct {
	ID     string
	Secret []byte
}

// deriveEach makes a key for one purpose of each in the ring, in its order.
func deriveEach(ring []Key, purpose string) ([][]byte, error) {
	if len(ring) == 0 {
		return nil, errors.New("the ring of keys is empty")
	}
	derived := make([][]byte, 0, len(ring))
	for _, k := range ring {
		key, err := derive(k.Secret, purpose)
		if err != nil {
			return nil, err
		}
		derived = append(derived, key)
	}
	return derived, nil
}

// Keys returns the configured ring. Without one, it returns one key from a random file in the data directory, which the first
// start creates.
func Keys(c *config.Config) ([]Key, error) {
	ring := make([]Key, 0, len(c.EncryptionKeys))
	for _, k := range c.EncryptionKeys {
		ring = append(ring, Key{k.ID, k.Bytes()})
	}
	if len(ring) > 0 {
		return ring, nil
	}
	path := filepath.Join(c.DataDir, "secret")
	secret, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSecret(path); err == nil {
			secret, err = readSecret(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encryption key (or set encryption_keys): %w", err)
	}
	return []Key{{"local", secret}}, nil
}

// SealerOf returns the sealer of the configured keys, or nil if no keys are configured. It never creates a key.
func SealerOf(c *config.Config) (*Sealer, error) {
	if len(c.EncryptionKeys) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	ring, err := Keys(c)
	if err != nil {
		return nil, err
	}
	return NewSealer(ring)
}

var errNotASecret = errors.New("the file does not hold the base64 of 32 bytes")

func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of our own in the operator's directory
	if err != nil {
		return nil, err //nolint:wrapcheck // Keys wraps it
	}
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) != minSecret {
		return nil, fmt.Errorf("%s: %w", path, errNotASecret)
	}
	return secret, nil
}

// makeSecret makes the file in one step. A link to an existing name fails, so two processes that start at once read the same
// secret.
func makeSecret(path string) error {
	if err := datadir.Make(filepath.Dir(path)); err != nil {
		return err
	}
	draft, err := draftSecret(filepath.Dir(path))
	if draft != "" {
		defer func() { _ = os.Remove(draft) }()
	}
	if err != nil {
		return err
	}
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err //nolint:wrapcheck // Keys wraps it
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the name of the file survive a crash of the machine, as its
// content does.
func syncDir(path string) error {
	dir, err := os.Open(path) //nolint:gosec // the operator's directory
	if err != nil {
		return err //nolint:wrapcheck // Keys wraps it
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// draftSecret writes a new secret to the disk under a passing name.
func draftSecret(dir string) (string, error) {
	f, err := os.CreateTemp(dir, ".secret-*")
	if err != nil {
		return "", err //nolint:wrapcheck // Keys wraps it
	}
	secret := make([]byte, minSecret)
	_, _ = rand.Read(secret) // never fails
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(secret) + "\n")
	return f.Name(), errors.Join(err, f.Sync(), f.Close())
}
