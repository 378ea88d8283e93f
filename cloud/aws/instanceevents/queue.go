package instanceevents

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"tenon/cloud/aws/api"
)

// How the queue receives messages. (As in Karpenter.)
const (
	most       = 10
	visibility = 20 // seconds during which SQS hides a received message from other receivers
	longPoll   = 20 // seconds
)

// Message is a message of the queue, not parsed yet.
type Message struct {
	Body    string
	receipt string
}

// Queue is the SQS queue to which AWS sends notices.
type Queue struct {
	sqs  api.SQS
	name string
	wait time.Duration

	mu  sync.Mutex
	url string
}

// NewQueue makes a queue that looks up its URL by name at first use. Receive waits for wait; zero means the
// default.
func NewQueue(client api.SQS, name string, wait time.Duration) *Queue {
	if wait == 0 {
		wait = longPoll * time.Second
	}
	return &Queue{sqs: client, name: name, wait: wait}
}

// Receive waits until there are messages. If none come for a while, it returns an empty list.
func (q *Queue) Receive(ctx context.Context) ([]Message, error) {
	url, err := q.address(ctx)
	if err != nil {
		return nil, err
	}
	out, err := q.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: most, VisibilityTimeout: visibility, WaitTimeSeconds: int32(q.wait / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
		MessageAttributeNames:       []string{"All"},
	})
	if err != nil {
		q.mu.Lock()
		q.url = "" // the queue may have been recreated
		q.mu.Unlock()
		return nil, fmt.Errorf("receive messages of queue %s: %w", q.name, err)
	}
	messages := make([]Message, len(out.Messages))
	for i, m := range out.Messages {
		messages[i] = Message{Body: aws.ToString(m.Body), receipt: aws.ToString(m.ReceiptHandle)}
	}
	return messages, nil
}

// Delete removes a handled message from the queue.
func (q *Queue) Delete(ctx context.Context, m Message) error {
	url, err := q.address(ctx)
	if err != nil {
		return err
	}
	if _, err := q.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: &m.receipt}); err != nil {
		return fmt.Errorf("delete a message of queue %s: %w", q.name, err)
	}
	return nil
}

func (q *Queue) address(ctx context.Context) (string, error) {
	q.mu.Lock()
	url := q.url
	q.mu.Unlock()
	if url != "" {
		return url, nil
	}
	out, err := q.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &q.name})
	if err != nil {
		return "", fmt.Errorf("find queue %s: %w", q.name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.url = aws.ToString(out.QueueUrl)
	return q.url, nil
}
