package aws_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tenon/lab/aws"
	"tenon/lab/aws/model"
	"tenon/lab/aws/wire"
)

// judged serves an emulator and compares every answer that its tests get with AWS's model of the operation: members have their
// types, values of enumerations are known, required members are there, and errors have a code that the operation has.
func judged(t *testing.T, s *aws.Server, c aws.Config) http.Handler {
	t.Helper()
	serve, router := s.Handler(), wire.NewRouter(c.Account, c.Accounts, s.Services()...)
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		if strings.HasPrefix(h.URL.Path, "/lab/") || strings.HasPrefix(h.URL.Path, "/latest/") {
			serve.ServeHTTP(w, h)
			return
		}
		body, _ := io.ReadAll(h.Body) // the emulator says what is wrong with it
		again := func() *http.Request {
			copied := h.Clone(h.Context())
			copied.Body = io.NopCloser(bytes.NewReader(body))
			return copied
		}
		call, unknown := router.Parse(again())
		kept := httptest.NewRecorder()
		serve.ServeHTTP(kept, again()) // a fault that closes the connection panics through
		if service := model.Find(call.Service.Name); unknown == nil && service != nil && service.Operations[call.Operation] != nil {
			j := judge{operation: service.Operations[call.Operation], protocol: service.Protocol}
			for _, wrong := range j.answer(call, kept.Code, kept.Body.Bytes()) {
				t.Errorf("%s.%s: %s", call.Service.Name, call.Operation, wrong)
			}
		}
		for name, values := range kept.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes()) // the client went away
	})
}

// judge collects what is wrong with one answer.
type judge struct {
	operation *model.Operation
	protocol  string
	wrong     []string
}

func (j *judge) note(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

func (j *judge) answer(call *wire.Call, status int, body []byte) []string {
	asJSON := len(body) > 0 && body[0] == '{'
	output := j.operation.Shape(j.operation.Output)
	switch {
	case status != http.StatusOK && asJSON:
		var e struct {
			Type string `json:"__type"`
		}
		_ = json.Unmarshal(body, &e) // no code is known in none
		j.code(e.Type)
	case status != http.StatusOK:
		_, after, _ := strings.Cut(string(body), "<Code>")
		code, _, _ := strings.Cut(after, "</Code>")
		j.code(code)
	case output == nil:
	case asJSON:
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			j.note("%v", err)
		}
		j.json(value, output, "")
	case call.Service.Protocol != wire.QueryOrJSON: // the older form of SQS is not in the model
		var root element
		if err := xml.Unmarshal(body, &root); err != nil {
			j.note("%v", err)
		}
		if call.Service.Protocol == wire.Query {
			if at := slices.IndexFunc(root.Children, func(e element) bool { return e.XMLName.Local == call.Operation+"Result" }); at >= 0 {
				root = root.Children[at]
			}
		}
		root.Children = slices.DeleteFunc(root.Children, func(e element) bool { return e.XMLName.Local == "requestId" })
		j.xml(root, output, "")
	}
	return j.wrong
}

// common are the codes that every operation may return: AWS's "Common Errors".
var common = []string{
	"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "ExpiredToken", "ExpiredTokenException", "RequestExpired", "Throttling", "ThrottlingException",
	"RequestLimitExceeded", "ValidationError", "ValidationException", "InternalError", "InternalFailure", "ServiceUnavailable", "InvalidAction", "MissingAuthenticationToken",
	"MissingAuthenticationTokenException", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter", "UnknownParameter", "UnknownOperationException", "SerializationException",
}

// older are codes of SQS's query protocol with today's names.
var older = map[string]string{"AWS.SimpleQueueService.NonExistentQueue": "QueueDoesNotExist"}

// code judges an error's code. EC2's model has none.
func (j *judge) code(code string) {
	code = code[strings.LastIndex(code, "#")+1:] // a namespace may precede it
	code = cmp.Or(older[code], code)
	if j.protocol != "ec2" && !slices.Contains(common, code) && !slices.Contains(j.operation.Errors, code) {
		j.note("error %q is none of %v", code, j.operation.Errors)
	}
}

// scalar judges a value in its text form.
func (j *judge) scalar(text string, shape *model.Shape, at string) {
	var err error
	switch shape.Type {
	case "integer", "long":
		_, err = strconv.ParseInt(text, 10, 64)
	case "double", "float":
		_, err = strconv.ParseFloat(text, 64)
	case "boolean":
		_, err = strconv.ParseBool(text)
	case "timestamp":
		_, err = time.Parse(time.RFC3339, text)
	case "string":
		quirk := strings.HasSuffix(at, ".platform") && text == "windows" // "The value is Windows", says the model; EC2 answers in small letters
		if n := len(shape.Enum); n > 0 && n < growing && !slices.Contains(shape.Enum, text) && !quirk {
			j.note("%s is %q, none of %v", at, text, shape.Enum)
		}
	}
	if err != nil {
		j.note("%s is no %s: %v", at, shape.Type, err)
	}
}

// growing is the length of enumerations that are not compared: new instance types come with each release.
const growing = 100

type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (j *judge) xml(e element, shape *model.Shape, at string) {
	switch shape.Type {
	case "structure":
		seen := map[string]bool{}
		for _, child := range e.Children {
			name := child.XMLName.Local
			m := memberOut(shape, name)
			if m == nil {
				j.note("%s.%s is no member", at, name)
				continue
			}
			seen[name] = true
			if inner := j.operation.Shape(m.Shape); inner.Type == "list" && inner.Flat {
				j.xml(child, j.operation.Shape(inner.Item), at+"."+name)
			} else {
				j.xml(child, inner, at+"."+name)
			}
		}
		j.required(shape, func(m *model.Member) bool { return seen[m.Out] || j.emptyList(m) }, at)
	case "list":
		for _, item := range e.Children {
			j.xml(item, j.operation.Shape(shape.Item), at+"[]")
		}
	case "map":
	default:
		j.scalar(strings.TrimSpace(e.Text), shape, at)
	}
}

// emptyList reports whether a member may be left out in XML because it is a list without elements.
func (j *judge) emptyList(m *model.Member) bool { return j.operation.Shape(m.Shape).Type == "list" }

func (j *judge) required(shape *model.Shape, has func(*model.Member) bool, at string) {
	for _, name := range shape.Required {
		if m := shape.Members[name]; !has(m) {
			j.note("%s lacks %s", at, m.Out)
		}
	}
}

func (j *judge) json(value any, shape *model.Shape, at string) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		if shape.Type == "map" {
			for key, item := range v {
				j.json(item, j.operation.Shape(shape.Item), at+"."+key)
			}
			return
		}
		for name, item := range v {
			if m := memberIn(shape, name, true); m != nil {
				j.json(item, j.operation.Shape(m.Shape), at+"."+name)
			} else {
				j.note("%s.%s is no member", at, name)
			}
		}
		j.required(shape, func(m *model.Member) bool { return v[m.Out] != nil }, at)
	case []any:
		for _, item := range v {
			j.json(item, j.operation.Shape(shape.Item), at+"[]")
		}
	case string:
		if shape.Type != "string" && shape.Type != "blob" {
			j.note("%s is the text %q, want a %s", at, v, shape.Type)
			return
		}
		j.scalar(v, shape, at)
	case float64: // as JSON has numbers; times are seconds
		if !slices.Contains([]string{"integer", "long", "double", "float", "timestamp"}, shape.Type) {
			j.note("%s is the number %v, want a %s", at, v, shape.Type)
		}
	case bool:
		if shape.Type != "boolean" {
			j.note("%s is %v, want a %s", at, v, shape.Type)
		}
	}
}
