package sqs

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type receiveInput struct {
	queueInput
	Max           *int     `json:"MaxNumberOfMessages" query:"MaxNumberOfMessages"`
	Visibility    *int     `json:"VisibilityTimeout" query:"VisibilityTimeout"`
	Wait          int      `json:"WaitTimeSeconds" query:"WaitTimeSeconds"`
	Attributes    []string `json:"AttributeNames" query:"AttributeName"`
	System        []string `json:"MessageSystemAttributeNames" query:"MessageSystemAttributeName"`
	MessageValues []string `json:"MessageAttributeNames" query:"MessageAttributeName"`
	Attempt       string   `json:"ReceiveRequestAttemptId" query:"ReceiveRequestAttemptId"`
}

type receiveOutput struct {
	Messages []message `json:",omitempty" xml:"Message"`
}

type message struct {
	ID         string     `json:"MessageId" xml:"MessageId"`
	Receipt    string     `json:"ReceiptHandle" xml:"ReceiptHandle"`
	MD5        string     `json:"MD5OfBody" xml:"MD5OfBody"`
	Body       string     `json:"Body" xml:"Body"`
	Attributes attributes `json:",omitempty" xml:"Attribute"`
}

func (d service) receive(c *wire.Call, in *receiveInput) (*receiveOutput, error) {
	o, account, err := d.order(c, in)
	if err != nil {
		return nil, err
	}
	got, err := d.world.Receive(c.HTTP.Context(), account, c.Region, o)
	if err != nil {
		return nil, err
	}
	out := &receiveOutput{}
	for _, m := range got {
		out.Messages = append(out.Messages, message{m.ID, m.Receipt, digest(m.Body), m.Body, attributes{
			"SentTimestamp": millis(m.Sent), "ApproximateReceiveCount": number(m.Receives), "ApproximateFirstReceiveTimestamp": millis(m.First()),
			"SenderId": "events.amazonaws.com",
		}.some(slices.Concat(in.Attributes, in.System))})
	}
	return out, nil
}

func (d service) order(c *wire.Call, in *receiveInput) (accounts.ReceiveOrder, string, error) {
	o := accounts.ReceiveOrder{Queue: in.URL, Max: 1, Wait: time.Duration(in.Wait) * time.Second}
	account := c.Account
	if parts := strings.Split(in.URL, "/"); len(parts) >= 2 {
		account, o.Queue = parts[len(parts)-2], parts[len(parts)-1]
	}
	if in.Max != nil {
		o.Max = *in.Max
	}
	if in.Visibility != nil {
		hidden := time.Duration(*in.Visibility) * time.Second
		o.Visibility = &hidden
	}
	switch {
	case o.Max < 1 || o.Max > 10:
		return o, "", wire.Errorf("InvalidParameterValue", "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", o.Max)
	case in.Wait < 0 || in.Wait > 20:
		return o, "", wire.Errorf("InvalidParameterValue", "Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.Wait)
	}
	return o, account, nil
}

// attributes holds names and values: an object in JSON, elements with a Name and a Value in XML.
type attributes map[string]string

// some returns the requested attributes.
func (a attributes) some(names []string) attributes {
	if len(names) == 0 {
		return nil
	}
	return a.only(names)
}

func (a attributes) only(names []string) attributes {
	if len(names) == 0 || slices.Contains(names, "All") {
		return a
	}
	kept := attributes{}
	for _, name := range names {
		if value, ok := a[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// MarshalXML writes an element for each attribute, sorted by name.
func (a attributes) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	names := make([]string, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		pair := struct{ Name, Value string }{name, a[name]}
		if err := e.EncodeElement(pair, start); err != nil {
			return err
		}
	}
	return nil
}

// digest returns the checksum by which clients check a body.
func digest(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

func number(n int) string { return strconv.Itoa(n) }

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
