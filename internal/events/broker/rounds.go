package broker

import "slices"

// rounds sorts messages, by their index, into rounds: a message is in the round behind that of the last one before it of its
// order or of its subject. Messages of one order and subject are so never in one round, and in their order.
func rounds(messages []Message) (all [][]int) {
	type key struct{ kind, name string }
	next := map[key]int{}
	for i, m := range messages {
		order, subject := key{"order", m.Key()}, key{"subject", m.Subject}
		n := max(next[order], next[subject])
		next[order], next[subject] = n+1, n+1
		if n == len(all) {
			all = append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	return all
}

// inRounds publishes round after round, up to the first with an error. publish sends the messages of a round, waits, and returns
// for each of them nil if the broker has acknowledged it.
func inRounds(messages []Message, publish func(round []int) []error) (acknowledged int, err error) {
	stored := make([]bool, len(messages)+1)
	for _, round := range rounds(messages) {
		for i, failed := range publish(round) {
			stored[round[i]] = failed == nil
			if err == nil {
				err = failed
			}
		}
		if err != nil {
			break
		}
	}
	return slices.Index(stored, false), err
}
