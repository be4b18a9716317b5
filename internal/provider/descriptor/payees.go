package descriptor

// PayeesOf returns an Adapter's Payees: the values of these keys, those that are set.
func PayeesOf(keys ...string) func(params map[string]string) []string {
	return func(params map[string]string) []string {
		var ids []string
		for _, key := range keys {
			if id := params[key]; id != "" {
				ids = append(ids, id)
			}
		}
		return ids
	}
}
