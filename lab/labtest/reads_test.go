package labtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A read that the API server has no time for is tried again, a few times. A write is not, and no other failure is.
func TestReads(t *testing.T) {
	for _, test := range []struct {
		name   string
		late   int // so many answers come too late
		status int // of the late answers
		write  bool
		asked  int
		fails  bool
	}{
		{name: "a read is answered", asked: 1},
		{name: "a read is answered late twice", late: 2, status: http.StatusGatewayTimeout, asked: 3},
		{name: "a read is never answered", late: 100, status: http.StatusGatewayTimeout, asked: readTries, fails: true},
		{name: "a read is refused", late: 100, status: http.StatusForbidden, asked: 1, fails: true},
		{name: "a write is answered late", late: 100, status: http.StatusGatewayTimeout, write: true, asked: 1, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked <= test.late {
					w.WriteHeader(test.status)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`))
			}))
			defer server.Close()
			clients, err := kubernetes.NewForConfig(patiently(&rest.Config{Host: server.URL}))
			if err != nil {
				t.Fatal(err)
			}
			if test.write {
				_, err = clients.CoreV1().Nodes().Create(t.Context(), &v1.Node{}, metav1.CreateOptions{})
			} else {
				_, err = clients.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
			}
			if asked != test.asked || (err != nil) != test.fails {
				t.Errorf("asked %d times: %v", asked, err)
			}
		})
	}
}
