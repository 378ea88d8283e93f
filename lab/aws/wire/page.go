package wire

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Limits say how many results a caller may ask for at once.
type Limits struct{ Min, Max int }

// Page cuts a page from a list that is sorted by its keys, which must be unique. The token is the key of
// the last element of the previous page, so that elements which come and go in between neither hide nor
// repeat others.
func Page[T any](list []T, key func(T) string, size *int, token string, l Limits) (page []T, next string, err error) {
	limit := l.Max
	if size != nil {
		if *size < l.Min || *size > l.Max {
			return nil, "", Errorf("InvalidParameterValue",
				"Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", *size, l.Min, l.Max)
		}
		limit = *size
	}
	if token != "" {
		after, err := decodeToken(token)
		if err != nil {
			return nil, "", err
		}
		for len(list) > 0 && key(list[0]) <= after {
			list = list[1:]
		}
	}
	if len(list) <= limit {
		return list, "", nil
	}
	return list[:limit], encodeToken(key(list[limit-1])), nil
}

const tokenMark = "after:"

func encodeToken(key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(tokenMark + key))
}

func decodeToken(token string) (string, error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	after, ours := strings.CutPrefix(string(text), tokenMark)
	if err != nil || !ours {
		return "", Errorf("InvalidParameterValue", "Unable to parse pagination token %s", fmt.Sprintf("%.40q", token))
	}
	return after, nil
}
