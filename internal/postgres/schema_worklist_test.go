package postgres_test

// worklistPromises are about assignees and comments of discrepancies, and about the settler.
func worklistPromises() []promise {
	const given = `INSERT INTO worklist_comments VALUES (':m1', ':m1', 'sam', 'I look at this.', now())`
	const keyed = `INSERT INTO worklist_comments VALUES (':m1', ':m1', 'sam', 'I look at this.', now(), 'key-00000001')`
	comment := another("worklist_comments", `{"comment_id": ":m2"}`)
	return []promise{
		{
			name: "an assignee has it since a time", breaks: `UPDATE discrepancies SET assignee = 'sam'`,
			code: check, constraint: "discrepancies_assigned_since", allowed: `UPDATE discrepancies SET assignee = 'sam', assigned_at = now()`,
		},
		{
			name: "a comment has one id", given: given, breaks: another("worklist_comments", `{"text": "other"}`),
			code: unique, constraint: "comments_have_one_id", allowed: comment,
		},
		{
			name: "a comment is about a discrepancy", given: given, breaks: another("worklist_comments", `{"comment_id": ":m2", "discrepancy_id": ":m3"}`),
			code: foreign, constraint: "comments_have_a_discrepancy", allowed: comment,
		},
		{
			name: "a comment has an author", given: given, breaks: another("worklist_comments", `{"comment_id": ":m2", "author": ""}`),
			code: check, constraint: "comments_have_an_author", allowed: comment,
		},
		{
			name: "a comment has a text", given: given, breaks: another("worklist_comments", `{"comment_id": ":m2", "text": ""}`),
			code: check, constraint: "comments_length", allowed: comment,
		},
		{
			name: "an author has one comment under a key", given: keyed, breaks: another("worklist_comments", `{"comment_id": ":m2", "text": "other"}`),
			code: unique, constraint: "comments_one_per_key", allowed: another("worklist_comments", `{"comment_id": ":m2", "author": "pat"}`),
		},
		{
			name: "a comment is not rewritten", given: given, breaks: `UPDATE worklist_comments SET text = 'other'`,
			code: violated, constraint: "worklist_comments_append_only", allowed: comment,
		},
		{
			name: "there is one turn", breaks: `INSERT INTO worklist_turns DEFAULT VALUES`,
			code: unique, constraint: "worklist_turns_pkey", allowed: `UPDATE worklist_turns SET fence = fence + 1`,
		},
		{
			name: "the turn is one row", breaks: `UPDATE worklist_turns SET one_row = false`,
			code: check, constraint: "worklist_turns_one_row", allowed: `UPDATE worklist_turns SET fence = fence + 1`,
		},
	}
}
