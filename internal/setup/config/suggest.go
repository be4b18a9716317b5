package config

// Suggest returns a hint at the candidate that was probably meant, or nothing.
func Suggest(word string, candidates []string) string {
	best, hint := 3, ""
	for _, c := range candidates {
		if d := distance(word, c); d < best && d < len(c) {
			best, hint = d, "; did you mean "+c+"?"
		}
	}
	return hint
}

// distance is the number of bytes to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
