package labtest

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// readTries is how often a read is tried.
const readTries = 4

// patiently changes a configuration so that its clients read as reader does.
func patiently(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return reader{next} })
	return config
}

// A reader reads again what an API server had no time to answer. That server is busy, as on a machine that runs several
// labs, and the state that the test asks about is as good as before.
type reader struct{ next http.RoundTripper }

// RoundTrip tries a read again if the API server says that it took too long. Writes are tried once: the server may
// have done what it did not answer.
func (r reader) RoundTrip(request *http.Request) (*http.Response, error) {
	for tried := 1; ; tried++ {
		response, err := r.next.RoundTrip(request)
		if err != nil || request.Method != http.MethodGet || response.StatusCode != http.StatusGatewayTimeout || tried == readTries {
			return response, err
		}
		response.Body.Close()
	}
}
