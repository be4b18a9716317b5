package postgres_test

// apiKeyPromises are about API keys.
func apiKeyPromises() []promise {
	other := `{"api_key_id": ":m2", "hash": "\\x0202020202020202020202020202020202020202020202020202020202020202"`
	second := another("api_keys", other+"}")
	refuses := func(name, change, constraint string) promise {
		return promise{name: name, breaks: another("api_keys", other+", "+change+"}"), code: check, constraint: constraint, allowed: second}
	}
	return []promise{
		{
			name: "an API key has one id", breaks: another("api_keys", `{"hash": "\\x0202020202020202020202020202020202020202020202020202020202020202"}`),
			code: unique, constraint: "api_keys_pkey", allowed: second,
		},
		{
			name: "a hash is of one API key", breaks: another("api_keys", `{"api_key_id": ":m2"}`),
			code: unique, constraint: "api_keys_one_per_hash", allowed: second,
		},
		refuses("an API key has a name", `"name": ""`, "api_keys_have_a_name"),
		refuses("an API key has a creator", `"created_by": ""`, "api_keys_have_a_creator"),
		refuses("an API key has known roles", `"roles": ["customer"]`, "api_keys_roles_known"),
		{
			name: "an API key is stored as a hash", breaks: another("api_keys", `{"api_key_id": ":m2", "hash": "\\x706c6b5f"}`),
			code: check, constraint: "api_keys_hash_is_sha256", allowed: second,
		},
	}
}
