package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/api"
	"tenon/core/order"
)

const (
	// mostTagged is how many instances a call can tag.
	mostTagged = 1000
	// sideways is how many calls the client makes at the same time. Each instance has its own name tag, so
	// many new nodes need as many calls; the limiter paces them.
	sideways = 10
)

// wish is a request to tag an instance. The tags are one text, so that wishes can be compared.
type wish struct{ id, tags string }

// Tag puts tags on an instance; it returns ErrGone if EC2 does not know the instance. Instances that get the
// same tags share a call.
func (y *Client) Tag(ctx context.Context, id string, tags map[string]string) error {
	_, err := y.tag.Ask(ctx, wish{id, spell(tags)})
	if errors.Is(err, ErrGone) {
		return err
	}
	if err != nil {
		return fmt.Errorf("tag instance %s: %w", id, err)
	}
	return nil
}

// spell encodes tags as one text; read decodes it.
func spell(tags map[string]string) string {
	var text []byte
	for _, key := range order.Keys(tags) {
		text = strconv.AppendQuote(strconv.AppendQuote(text, key), tags[key])
	}
	return string(text)
}

func read(text string) (tags []types.Tag) {
	var word string
	next := func() *string {
		word, text = cut(text)
		return aws.String(word)
	}
	for text != "" {
		tags = append(tags, types.Tag{Key: next(), Value: next()})
	}
	return tags
}

// cut splits off the first word of a text that spell has written.
func cut(text string) (word, rest string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err == nil {
		word, err = strconv.Unquote(quoted)
	}
	if err != nil {
		panic(fmt.Sprintf("tags %q cannot be written: %v", text, err))
	}
	return word, text[len(quoted):]
}

func (y *Client) tagAll(ctx context.Context, wishes []wish) map[wish]Answer[struct{}] {
	groups := map[string][]wish{}
	for _, w := range wishes {
		groups[w.tags] = append(groups[w.tags], w)
	}
	answers := &tagged{answers: make(map[wish]Answer[struct{}], len(wishes))}
	turns := make(chan struct{}, sideways)
	var calls sync.WaitGroup
	for _, tags := range order.Keys(groups) {
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			y.tagSome(ctx, groups[tags], answers)
		})
	}
	calls.Wait()
	return answers.answers
}

// tagged collects the answers to wishes.
type tagged struct {
	mu      sync.Mutex
	answers map[wish]Answer[struct{}]
}

func (t *tagged) failed(wishes []wish, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range wishes {
		t.answers[w] = Answer[struct{}]{Err: err}
	}
}

// tagSome makes one call for wishes with the same tags, and splits a call that EC2 refuses because one of the
// instances is gone.
func (y *Client) tagSome(ctx context.Context, wishes []wish, answers *tagged) {
	ids := make([]string, len(wishes))
	for i, w := range wishes {
		ids[i] = w.id
	}
	slices.Sort(ids)
	_, err := y.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: read(wishes[0].tags)})
	switch {
	case err == nil:
	case api.IsNotFound(err) && len(wishes) > 1:
		y.tagSome(ctx, wishes[:len(wishes)/2], answers)
		y.tagSome(ctx, wishes[len(wishes)/2:], answers)
	case api.IsNotFound(err):
		answers.failed(wishes, ErrGone)
	default:
		answers.failed(wishes, err)
	}
}
