package preflight

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"tenon/cloud/aws/api"
	"tenon/internal/preflight"
)

const checkQueue = "aws-queue"

// queue says whether notices of interruptions arrive. A message that is received is hidden for a
// second alone, so that the controller gets it too.
func (l *inspection) queue(ctx context.Context) []preflight.Finding {
	if l.Queue == "" {
		return []preflight.Finding{{Check: checkQueue, Level: preflight.Warning, Text: "no interruption queue is set",
			Means:  "spot machines end without their pods being moved first",
			Remedy: "make the queue and its EventBridge rules, and set --interruption-queue; in the chart settings.interruptionQueue"}}
	}
	answer, err := l.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(l.Queue)})
	if err != nil {
		return l.queueTrouble("find it", err)
	}
	if _, err := l.clients.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: answer.QueueUrl, MaxNumberOfMessages: 1, VisibilityTimeout: 1}); err != nil {
		return l.queueTrouble("receive from it", err)
	}
	if _, err := l.clients.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: answer.QueueUrl, ReceiptHandle: absent}); slices.Contains(refusals, api.Code(err)) {
		return l.queueTrouble("delete from it", err)
	}
	return append([]preflight.Finding{ok(checkQueue, "the queue %s can be read", l.Queue)}, l.rules(ctx, l.queueARN())...)
}

// queueARN is made of what is known: the queue may not be asked for its attributes.
func (l *inspection) queueARN() string {
	return fmt.Sprintf("arn:%s:sqs:%s:%s:%s", l.partition, l.clients.Region, l.account, l.Queue)
}

func (l *inspection) queueTrouble(attempt string, err error) []preflight.Finding {
	remedy := "make the queue " + l.Queue + " in this account and region, or set --interruption-queue to the name of the one that is there"
	if slices.Contains(refusals, api.Code(err)) {
		remedy = "allow sqs:GetQueueUrl, sqs:ReceiveMessage and sqs:DeleteMessage on the queue"
	}
	return []preflight.Finding{{Check: checkQueue, Level: preflight.Failed, Text: "queue " + l.Queue + ", attempt to " + attempt + ": " + l.why(err),
		Means: "spot machines end without their pods being moved first", Remedy: remedy}}
}
