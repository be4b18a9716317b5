package postgres_test

// methodPromises are about stored payment methods.
func methodPromises() []promise {
	second := another("saved_methods", `{"token": "pm_2"}`)
	return []promise{
		{
			name: "a stored payment method is one row", breaks: another("saved_methods", `{}`),
			code: unique, constraint: "saved_methods_once", allowed: another("saved_methods", `{"account": "other"}`),
		},
		{
			name: "a stored payment method has a token", breaks: another("saved_methods", `{"token": ""}`),
			code: check, constraint: "saved_methods_have_a_token", allowed: second,
		},
		{
			name: "a stored payment method's versions begin at one", breaks: another("saved_methods", `{"token": "pm_2", "version": 0}`),
			code: check, constraint: "saved_methods_version_positive", allowed: second,
		},
	}
}
