package stream

import (
	"crypto/rand"
	"encoding/base64"
)

// A notice is the sender's name and the ids, each in base64. PostgreSQL takes
// payloads below 8,000 bytes.
const (
	nameLength   = 9
	nameText     = 12
	idText       = 22
	noticeLength = 7900
	idsANotice   = (noticeLength - nameText) / idText
)

// newName makes the name of a process. The process recognizes its own notices by it.
func newName() string {
	var raw [nameLength]byte
	_, _ = rand.Read(raw[:])
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// writeNotices puts ids into as few notices as hold them.
func writeNotices(name string, ids []ID) []string {
	var notices []string
	for len(ids) > 0 {
		n := min(len(ids), idsANotice)
		text := append(make([]byte, 0, nameText+n*idText), name...)
		for _, id := range ids[:n] {
			text = base64.RawURLEncoding.AppendEncode(text, id[:])
		}
		notices, ids = append(notices, string(text)), ids[n:]
	}
	return notices
}

// readNotice returns the sender and the ids; no ids if the notice is not of this format.
func readNotice(notice string) (name string, ids []ID) {
	if len(notice) < nameText || (len(notice)-nameText)%idText != 0 {
		return "", nil
	}
	name, notice = notice[:nameText], notice[nameText:]
	for ; notice != ""; notice = notice[idText:] {
		var id ID
		if _, err := base64.RawURLEncoding.Decode(id[:], []byte(notice[:idText])); err != nil {
			return name, ids
		}
		ids = append(ids, id)
	}
	return name, ids
}
