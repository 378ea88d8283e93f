package requirement

import "strings"

// closest finds the key that the author of the unknown key most likely meant: of
// those that resemble it the one with the fewest edits, then the first by name.
func closest(unknown string, keys KeySet) (string, bool) {
	best, fewest := "", -1
	for _, key := range keys.Sorted() {
		if !resembles(unknown, key) {
			continue
		}
		if edits := EditDistance(unknown, key); fewest < 0 || edits < fewest {
			best, fewest = key, edits
		}
	}
	return best, fewest >= 0
}

// resembles is true when key contains what was written ("zone"), when only the domain
// differs ("k8s.io/zone"), or when less than a fifth of key is wrong.
func resembles(unknown, key string) bool {
	name := unknown[strings.Index(unknown, "/")+1:]
	if name == "" || unknown == key {
		return false
	}
	if strings.Contains(key, unknown) || strings.HasSuffix(key, "/"+name) {
		return true
	}
	tolerated := len(key) / 5
	if difference := len(unknown) - len(key); difference >= tolerated || -difference >= tolerated {
		return false
	}
	return EditDistance(unknown, key) < tolerated
}

// EditDistance counts the bytes to insert, delete or replace (Levenshtein).
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: from the first i bytes of a to the first j of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
