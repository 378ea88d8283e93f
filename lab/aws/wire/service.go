package wire

import (
	"net/http"
	"reflect"
)

// Protocol says how a service's requests and answers are written.
type Protocol int

const (
	EC2Query    Protocol = iota // form in, XML out, errors in a Response
	Query                       // form in, XML out with a Result element, errors in an ErrorResponse
	JSON10                      // X-Amz-Target and application/x-amz-json-1.0
	JSON11                      // X-Amz-Target and application/x-amz-json-1.1
	RESTJSON                    // paths and JSON
	QueryOrJSON                 // SQS: JSON 1.0 today, the query protocol for older clients
)

// Handler carries out an operation. Its answer is a struct that the protocol can write; an error that is
// not an *Error is a defect of the emulator.
type Handler struct {
	In, Out reflect.Type // the structs of parameters and answer
	do      func(*Call) (any, error)
}

// Service describes one AWS service: its protocol and its operations.
type Service struct {
	// Name is the service's name in the credential scope.
	Name     string
	Protocol Protocol
	// Target is the prefix of the operation in X-Amz-Target.
	Target string
	// Version is the API version in query requests.
	Version string
	// Namespace is the namespace of the XML answers.
	Namespace string
	// Routes are the paths of a REST API, in the patterns of net/http.
	Routes     map[string]string
	Operations map[string]Handler
	// Anonymous names operations that need no signature.
	Anonymous map[string]bool
}

// Operation makes a Handler from a function with typed parameters.
func Operation[In, Out any](do func(*Call, *In) (*Out, error)) Handler {
	return Handler{reflect.TypeFor[In](), reflect.TypeFor[Out](), func(c *Call) (any, error) {
		in := new(In)
		if err := c.Decode(in); err != nil {
			return nil, err
		}
		if c.Permit != nil {
			if err := c.Permit(in); err != nil {
				return nil, err
			}
		}
		out, err := do(c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}}
}

// Call is one request to one operation of a service.
type Call struct {
	Service   *Service
	Operation string
	Account   string // twelve digits
	Region    string
	AccessKey string
	RequestID string
	// HTTP is the original request; its body has been read.
	HTTP *http.Request
	// Permit, if set, is called before the operation runs, with its parameters.
	Permit func(in any) error

	protocol Protocol // of this call; never QueryOrJSON
	form     *tree
	body     []byte
}

// Do runs the call's operation.
func (c *Call) Do() (any, error) {
	do, ok := c.Service.Operations[c.Operation]
	if !ok {
		return nil, c.unknownOperation()
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return do.do(c)
}

func (c *Call) unknownOperation() error {
	code := "InvalidAction"
	if c.protocol == JSON10 || c.protocol == JSON11 {
		code = "UnknownOperationException"
	}
	return Errorf(code, "The emulator does not model the action %s of %s.", c.Operation, c.Service.Name)
}
