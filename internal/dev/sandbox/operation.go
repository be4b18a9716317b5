package sandbox

import "net/http"

// call is one call of a command.
type call struct {
	id      string // of the charge, or dispute, in the path
	act     string // of a dispute, in the path
	key     string
	hash    string
	base    string // the address that the caller used
	retried bool   // an earlier call with the key met a fault and did nothing
}

// result is the result of an operation for a call.
type result struct {
	value any
	err   *apiError
	fault fault  // of this call, and of no other with its key
	again bool   // nothing was done: the key's next call does it
	await string // the event that must be received before the response goes out

	reply    reply
	replayed bool
}

func refuse(status int, code, message string) result {
	return result{err: &apiError{status: status, Code: code, Message: message}}
}

// once runs an operation unless the key has a response already.
func (t *tx) once(c call, status int, run func(call) result) result {
	known, seen := t.keys[c.key]
	switch {
	case seen && known.Hash != c.hash:
		return refuse(http.StatusConflict, "idempotency_key_reused", "The key was used for another request.").replied(status)
	case seen && known.Status != 0:
		reply := reply{status: known.Status, body: []byte(known.Body)}
		return result{reply: reply, await: known.Await, replayed: true}
	}
	c.retried = seen
	res := run(c).replied(status)
	if res.keepsKey() {
		t.entry.Keys = append(t.entry.Keys, keyRecord{Key: c.key, Hash: c.hash, Await: res.await})
		if !res.again {
			last := &t.entry.Keys[len(t.entry.Keys)-1]
			last.Status, last.Body = res.reply.status, string(res.reply.body)
		}
	}
	return res
}

// keepsKey is false for an error that the same request gets again anyway.
func (res result) keepsKey() bool {
	return res.err == nil || res.err.status == http.StatusConflict
}

func (res result) replied(status int) result {
	if res.err != nil {
		res.reply = errorReply(res.err)
	} else {
		res.reply = jsonReply(status, res.value)
	}
	return res
}

func refuseCharge(rec chargeRecord, code, message string) result {
	return result{err: &apiError{status: http.StatusConflict, Code: code, Message: message, ChargeStatus: rec.Status}}
}
