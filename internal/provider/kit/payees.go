package kit

// PayeesOf returns the Payees of an Adapter: the non-empty values of these keys.
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
