package wire

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// bodyLimit is above the largest request of these services, a launch template
// with its user data or a fleet with all its overrides.
const bodyLimit = 4 << 20

// Router finds the service and the operation of a request.
type Router struct {
	// Account is the account of callers whose access key does not name one.
	Account string
	// Accounts maps access keys to accounts. A key of twelve digits is its own account.
	Accounts map[string]string

	byName   map[string]*Service
	byTarget map[string]*Service
	byQuery  map[string]*Service
	paths    *http.ServeMux
	routes   map[string]route
}

type route struct {
	service   *Service
	operation string
}

// NewRouter routes to the given services.
func NewRouter(account string, accounts map[string]string, services ...*Service) *Router {
	r := &Router{
		Account: account, Accounts: accounts,
		byName: map[string]*Service{}, byTarget: map[string]*Service{}, byQuery: map[string]*Service{},
		paths: http.NewServeMux(), routes: map[string]route{},
	}
	for _, s := range services {
		r.byName[s.Name] = s
		if s.Target != "" {
			r.byTarget[s.Target] = s
		}
		if s.Version != "" {
			r.byQuery[s.Version] = s
		}
		for pattern, operation := range s.Routes {
			r.routes[pattern] = route{s, operation}
			r.paths.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		}
	}
	return r
}

// Parse reads a request. Even with an error, the call is as complete as possible, so that the error can
// be written in its protocol.
func (r *Router) Parse(h *http.Request) (*Call, error) {
	c := &Call{HTTP: h, Account: r.Account, Service: &Service{Name: "unknown", Protocol: EC2Query}}
	body, err := io.ReadAll(io.LimitReader(h.Body, bodyLimit+1))
	if err != nil {
		return c, Errorf("IncompleteBody", "The request ended too early: %s", err)
	}
	if len(body) > bodyLimit {
		return c, StatusErrorf(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request body above %d bytes.", bodyLimit)
	}
	c.body = body
	scope, scopeErr := parseScope(h)
	if err := r.find(c, scope); err != nil {
		return c, err
	}
	if scopeErr != nil {
		if c.Service.Anonymous[c.Operation] {
			c.Region = "us-east-1"
			return c, nil
		}
		return c, scopeErr
	}
	c.AccessKey, c.Region = scope.accessKey, scope.region
	c.Account = r.accountOf(scope.accessKey)
	return c, nil
}

// find decides on service and operation: by target header, by action, or by path.
func (r *Router) find(c *Call, s scope) error {
	if target := c.HTTP.Header.Get("X-Amz-Target"); target != "" {
		return r.findTarget(c, target)
	}
	if form, ok := queryForm(c.HTTP, c.body); ok {
		return r.findAction(c, form, s)
	}
	return r.findPath(c)
}

func (r *Router) findTarget(c *Call, target string) error {
	prefix, operation, _ := strings.Cut(target, ".")
	s, ok := r.byTarget[prefix]
	c.protocol = JSON11
	if !ok {
		return Errorf("UnknownOperationException", "The emulator does not model the target %s.", target)
	}
	c.Service, c.Operation, c.protocol = s, operation, s.Protocol
	if s.Protocol == QueryOrJSON {
		c.protocol = JSON10
	}
	return nil
}

// findAction trusts the credential scope, and the version where there is none.
func (r *Router) findAction(c *Call, form url.Values, s scope) error {
	service, ok := r.byName[s.service]
	if !ok || service.Version == "" {
		service, ok = r.byQuery[form.Get("Version")]
	}
	if !ok {
		return Errorf("InvalidAction", "No service of the emulator has version %q for the scope %q.", form.Get("Version"), s.service)
	}
	c.Service, c.Operation, c.protocol = service, form.Get("Action"), service.Protocol
	if service.Protocol == QueryOrJSON {
		c.protocol = Query
	}
	form.Del("Action")
	form.Del("Version")
	c.form = parseForm(form)
	return nil
}

func (r *Router) findPath(c *Call) error {
	c.protocol = RESTJSON
	_, pattern := r.paths.Handler(c.HTTP)
	found, ok := r.routes[pattern]
	if !ok {
		return StatusErrorf(http.StatusNotFound, "UnknownOperationException", "The emulator has nothing at %s %s.", c.HTTP.Method, c.HTTP.URL.Path)
	}
	c.Service, c.Operation = found.service, found.operation
	// The mux fills the path values in only when it serves.
	r.paths.ServeHTTP(discard{}, c.HTTP)
	return nil
}

// discard is a ResponseWriter for handlers that write nothing.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// queryForm returns the parameters of a query request, from the body or the URL.
func queryForm(h *http.Request, body []byte) (url.Values, bool) {
	kind, _, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	if h.Method == http.MethodPost && kind == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		return form, err == nil && form.Has("Action")
	}
	form := h.URL.Query()
	for name := range form {
		if strings.HasPrefix(name, "X-Amz-") {
			form.Del(name)
		}
	}
	return form, form.Has("Action")
}

// scope is the credential scope in a signature: Credential=KEY/DATE/REGION/SERVICE/aws4_request.
type scope struct{ accessKey, region, service string }

var regionForm = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)

// parseScope reads the signature and does not check it: the emulator has no secrets.
func parseScope(h *http.Request) (scope, error) {
	credential := h.URL.Query().Get("X-Amz-Credential")
	if header := h.Header.Get("Authorization"); header != "" {
		_, rest, found := strings.Cut(header, "Credential=")
		if !found {
			return scope{}, StatusErrorf(http.StatusForbidden, "IncompleteSignature", "Authorization header requires 'Credential' parameter.")
		}
		credential, _, _ = strings.Cut(rest, ",")
	}
	if credential == "" {
		return scope{}, StatusErrorf(http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	parts := strings.Split(strings.TrimSpace(credential), "/")
	if len(parts) != 5 || parts[4] != "aws4_request" || parts[0] == "" {
		return scope{}, StatusErrorf(http.StatusForbidden, "IncompleteSignature", "Credential must have the form KEY/DATE/REGION/SERVICE/aws4_request.")
	}
	if !regionForm.MatchString(parts[2]) {
		return scope{}, StatusErrorf(http.StatusForbidden, "SignatureDoesNotMatch", "Credential should be scoped to a valid region, not %q.", parts[2])
	}
	return scope{accessKey: parts[0], region: parts[2], service: parts[3]}, nil
}

var accountForm = regexp.MustCompile(`^[0-9]{12}$`)

func (r *Router) accountOf(key string) string {
	if account, ok := r.Accounts[key]; ok {
		return account
	}
	if accountForm.MatchString(key) {
		return key
	}
	return r.Account
}

// String names the call in logs.
func (c *Call) String() string { return fmt.Sprintf("%s:%s", c.Service.Name, c.Operation) }
