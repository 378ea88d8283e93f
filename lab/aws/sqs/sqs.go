// Package sqs is the wire interface of SQS, in JSON for today's clients, and in the query protocol for
// older ones.
package sqs

import (
	"strings"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

// Service serves SQS on the given world.
func Service(w *accounts.World) *wire.Service {
	s := service{w}
	return &wire.Service{
		Name: "sqs", Protocol: wire.QueryOrJSON, Target: "AmazonSQS", Version: "2012-11-05", Namespace: "http://queue.amazonaws.com/doc/2012-11-05/",
		Operations: map[string]wire.Handler{
			"GetQueueUrl":             wire.Operation(s.find),
			"CreateQueue":             wire.Operation(s.create),
			"ListQueues":              wire.Operation(s.list),
			"GetQueueAttributes":      wire.Operation(s.attributes),
			"SendMessage":             wire.Operation(s.send),
			"ReceiveMessage":          wire.Operation(s.receive),
			"DeleteMessage":           wire.Operation(s.delete),
			"DeleteMessageBatch":      wire.Operation(s.deleteBatch),
			"ChangeMessageVisibility": wire.Operation(s.hide),
			"PurgeQueue":              wire.Operation(s.purge),
		},
	}
}

type service struct{ world *accounts.World }

type none struct{}

// address returns a queue's URL. Its last parts are the account and the name.
func address(c *wire.Call, name string) string {
	return "http://" + c.HTTP.Host + "/" + c.Account + "/" + name
}

// on works on the queue with a URL.
func (d service) on(c *wire.Call, url string, work func(*accounts.Region, *accounts.Queue) error) error {
	account, name := c.Account, url
	if parts := strings.Split(url, "/"); len(parts) >= 2 {
		account, name = parts[len(parts)-2], parts[len(parts)-1]
	}
	return d.world.Do(account, c.Region, func(r *accounts.Region) error {
		q, err := r.Queue(name)
		if err != nil {
			return err
		}
		return work(r, q)
	})
}

type findInput struct {
	Name  string `json:"QueueName" query:"QueueName"`
	Owner string `json:"QueueOwnerAWSAccountId" query:"QueueOwnerAWSAccountId"`
}

// Asks returns the action on the queue with that name.
func (in *findInput) Asks(action string, r *accounts.Region) []policy.Request {
	return []policy.Request{{Action: action, Resource: r.ARN("sqs", in.Name)}}
}

type urlOutput struct {
	URL string `json:"QueueUrl" xml:"QueueUrl"`
}

func (d service) find(c *wire.Call, in *findInput) (*urlOutput, error) {
	return &urlOutput{address(c, in.Name)}, d.on(c, in.Name, func(*accounts.Region, *accounts.Queue) error { return nil })
}

type createInput struct {
	Name string `json:"QueueName" query:"QueueName"`
}

func (d service) create(c *wire.Call, in *createInput) (*urlOutput, error) {
	if in.Name == "" || len(in.Name) > 80 || strings.Contains(in.Name, "/") {
		return nil, wire.Errorf("InvalidParameterValue", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	return &urlOutput{address(c, in.Name)}, d.world.Do(c.Account, c.Region, func(r *accounts.Region) error {
		r.CreateQueue(in.Name)
		return nil
	})
}

type listInput struct {
	Prefix     string `json:"QueueNamePrefix" query:"QueueNamePrefix"`
	MaxResults *int
	NextToken  string
}

type listOutput struct {
	URLs []string `json:"QueueUrls,omitempty" xml:"QueueUrl"`
	Next string   `json:"NextToken,omitempty" xml:"NextToken,omitempty"`
}

func (d service) list(c *wire.Call, in *listInput) (*listOutput, error) {
	out := &listOutput{}
	err := d.world.Do(c.Account, c.Region, func(r *accounts.Region) error {
		var names []string
		for _, name := range r.QueueNames() {
			if strings.HasPrefix(name, in.Prefix) {
				names = append(names, name)
			}
		}
		page, next, err := wire.Page(names, func(name string) string { return name }, in.MaxResults, in.NextToken, wire.Limits{Min: 1, Max: 1000})
		for _, name := range page {
			out.URLs = append(out.URLs, address(c, name))
		}
		out.Next = next
		return err
	})
	return out, err
}

type queueInput struct {
	URL string `json:"QueueUrl" query:"QueueUrl"`
}

// Asks returns the action on the queue with that address.
func (in *queueInput) Asks(action string, r *accounts.Region) []policy.Request {
	return []policy.Request{{Action: action, Resource: r.ARN("sqs", in.URL[strings.LastIndex(in.URL, "/")+1:])}}
}

type attributesInput struct {
	queueInput
	Names []string `json:"AttributeNames" query:"AttributeName"`
}

type attributesOutput struct {
	Attributes attributes `xml:"Attribute"`
}

func (d service) attributes(c *wire.Call, in *attributesInput) (*attributesOutput, error) {
	out := &attributesOutput{}
	err := d.on(c, in.URL, func(r *accounts.Region, q *accounts.Queue) error {
		waiting, inFlight := r.Count(q)
		out.Attributes = attributes{
			"ApproximateNumberOfMessages": number(waiting), "ApproximateNumberOfMessagesNotVisible": number(inFlight),
			"MessageRetentionPeriod": seconds(q.Retention), "VisibilityTimeout": seconds(q.Visibility), "QueueArn": r.ARN("sqs", q.Name),
		}.only(in.Names)
		return nil
	})
	return out, err
}

type sendInput struct {
	queueInput
	Body string `json:"MessageBody" query:"MessageBody"`
}

type sendOutput struct {
	ID  string `json:"MessageId" xml:"MessageId"`
	MD5 string `json:"MD5OfMessageBody" xml:"MD5OfMessageBody"`
}

func (d service) send(c *wire.Call, in *sendInput) (*sendOutput, error) {
	out := &sendOutput{MD5: digest(in.Body)}
	if in.Body == "" {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter MessageBody.")
	}
	err := d.on(c, in.URL, func(r *accounts.Region, q *accounts.Queue) error {
		out.ID = r.Send(q, in.Body).ID
		return nil
	})
	return out, err
}

type receiptInput struct {
	queueInput
	Receipt string `json:"ReceiptHandle" query:"ReceiptHandle"`
}

func (d service) delete(c *wire.Call, in *receiptInput) (*none, error) {
	return &none{}, d.on(c, in.URL, func(_ *accounts.Region, q *accounts.Queue) error {
		q.Delete(in.Receipt)
		return nil
	})
}

type batchInput struct {
	queueInput
	Entries []batchEntry `query:"DeleteMessageBatchRequestEntry"`
}

type batchEntry struct {
	ID      string `json:"Id" query:"Id"`
	Receipt string `json:"ReceiptHandle" query:"ReceiptHandle"`
}

type batchOutput struct {
	Successful []batchResult `xml:"DeleteMessageBatchResultEntry"`
	Failed     []batchResult `xml:"BatchResultErrorEntry"`
}

type batchResult struct {
	ID string `json:"Id" xml:"Id"`
}

func (d service) deleteBatch(c *wire.Call, in *batchInput) (*batchOutput, error) {
	if len(in.Entries) < 1 || len(in.Entries) > 10 {
		return nil, wire.Errorf("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", "%d entries: want 1 to 10.", len(in.Entries))
	}
	out := &batchOutput{Successful: []batchResult{}, Failed: []batchResult{}}
	err := d.on(c, in.URL, func(_ *accounts.Region, q *accounts.Queue) error {
		for _, e := range in.Entries {
			q.Delete(e.Receipt)
			out.Successful = append(out.Successful, batchResult{e.ID})
		}
		return nil
	})
	return out, err
}

type hideInput struct {
	receiptInput
	Visibility int `json:"VisibilityTimeout" query:"VisibilityTimeout"`
}

func (d service) hide(c *wire.Call, in *hideInput) (*none, error) {
	return &none{}, d.on(c, in.URL, func(r *accounts.Region, q *accounts.Queue) error {
		return r.Hide(q, in.Receipt, time.Duration(in.Visibility)*time.Second)
	})
}

func (d service) purge(c *wire.Call, in *queueInput) (*none, error) {
	return &none{}, d.on(c, in.URL, func(_ *accounts.Region, q *accounts.Queue) error {
		q.Purge()
		return nil
	})
}
