package inventory

import (
	"testing"

	"github.com/aws/smithy-go"
)

// User data that is too large fails the class, whichever code EC2 gives with its message: accounts have seen both.
func TestJudgeTemplateBeyondTheLimit(t *testing.T) {
	t.Parallel()
	for code, message := range map[string]string{
		"InvalidUserData.Malformed": "User data is limited to 16384 bytes",
		"InvalidParameterValue":     "User data is limited to 16384 bytes",
	} {
		got, err := judgeTemplate(&smithy.GenericAPIError{Code: code, Message: message})
		if err != nil || got.Reason != "UserDataSizeLimitExceeded" {
			t.Errorf("%s: %+v, %v", code, got, err)
		}
	}
}
