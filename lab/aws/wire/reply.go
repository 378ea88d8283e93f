package wire

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"time"
)

// Reply writes an answer, or the error in its place.
func (c *Call) Reply(w http.ResponseWriter, answer any, failure error) {
	status := http.StatusOK
	var body []byte
	var err error
	if failure == nil {
		body, err = c.encode(answer)
	}
	if failure = errors.Join(failure, err); failure != nil {
		known := asError(failure)
		status, body = known.status(), c.encodeError(w.Header(), known)
	}
	h := w.Header()
	h.Set("Content-Type", c.contentType())
	h.Set("X-Amzn-Requestid", c.RequestID)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if c.protocol == JSON10 || c.protocol == JSON11 {
		h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	}
	if len(body) > clientBuffer {
		time.Sleep(courtesy)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}

// The Go SDK closes a request's body as soon as it has the answer's headers. If net/http has not yet seen
// the end of the body by then, it takes this for a failed write and closes the connection, and the rest
// of the answer is lost. No real AWS answers fast enough for that; over the loopback it happens to
// answers that the client's first read does not take whole.
const (
	clientBuffer = 2048
	courtesy     = 5 * time.Millisecond
)

// asError turns a defect into AWS's own internal error.
func asError(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	return StatusErrorf(http.StatusInternalServerError, "InternalError", "An internal error has occurred: %s", err)
}

func (c *Call) contentType() string {
	switch c.protocol {
	case JSON10:
		return "application/x-amz-json-1.0"
	case JSON11:
		return "application/x-amz-json-1.1"
	case RESTJSON:
		return "application/json"
	default:
		return "text/xml;charset=UTF-8"
	}
}

func (c *Call) encode(answer any) ([]byte, error) {
	switch c.protocol {
	case JSON10, JSON11, RESTJSON:
		return json.Marshal(answer)
	case EC2Query:
		content, err := elements(answer)
		return fmt.Appendf(nil, "%s<%sResponse xmlns=%q><requestId>%s</requestId>%s</%[2]sResponse>",
			xml.Header, c.Operation, c.Service.Namespace, c.RequestID, content), err
	default:
		content, err := elements(answer)
		return fmt.Appendf(nil, "%[1]s<%[2]sResponse xmlns=%[3]q><%[2]sResult>%[4]s</%[2]sResult>%[5]s</%[2]sResponse>",
			xml.Header, c.Operation, c.Service.Namespace, content, metadata(c.RequestID)), err
	}
}

func metadata(id string) string {
	return "<ResponseMetadata><RequestId>" + id + "</RequestId></ResponseMetadata>"
}

// elements returns the fields of a struct as XML, without an enclosing element.
func elements(answer any) ([]byte, error) {
	var b bytes.Buffer
	if err := xml.NewEncoder(&b).EncodeElement(answer, xml.StartElement{Name: xml.Name{Local: "x"}}); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("<x>")), []byte("</x>")), nil
}

type errorText struct {
	Type    string `xml:"Type,omitempty"`
	Code    string
	Message string
}

func (c *Call) encodeError(h http.Header, e *Error) []byte {
	switch c.protocol {
	case JSON10, JSON11, RESTJSON:
		h.Set("X-Amzn-Errortype", e.Code)
		if e.QueryCode != "" && c.HTTP.Header.Get("X-Amzn-Query-Mode") == "true" {
			h.Set("X-Amzn-Query-Error", e.QueryCode+";"+e.side())
		}
		body, _ := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message}) // strings always encode
		return body
	case EC2Query:
		text, _ := elements(errorText{Code: e.Code, Message: e.Message})
		return fmt.Appendf(nil, "%s<Response><Errors><Error>%s</Error></Errors><RequestID>%s</RequestID></Response>", xml.Header, text, c.RequestID)
	default:
		code := e.Code
		if e.QueryCode != "" {
			code = e.QueryCode
		}
		text, _ := elements(errorText{Type: e.side(), Code: code, Message: e.Message})
		return fmt.Appendf(nil, "%s<ErrorResponse xmlns=%q><Error>%s</Error><RequestId>%s</RequestId></ErrorResponse>",
			xml.Header, c.Service.Namespace, text, c.RequestID)
	}
}
