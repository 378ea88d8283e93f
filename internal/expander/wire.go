package expander

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of the service, of which two fields are the objects of core/v1 in their own form:
//
//	BestOptionsRequest   1: repeated Option   3: map from group to Node
//	BestOptionsResponse  1: repeated Option
//	Option               1: group   2: number of nodes   3: debug text   5: repeated Pod
const (
	fieldOptions = 1
	fieldNodes   = 3

	fieldGroup = 1
	fieldCount = 2
	fieldDebug = 3
	fieldPods  = 5

	fieldKey   = 1
	fieldValue = 2
)

// wire encodes a Request and decodes a response.
type wire struct{}

// Name is the name by which servers know the encoding.
func (wire) Name() string { return "proto" }

// Marshal encodes a *Request.
func (wire) Marshal(message any) ([]byte, error) {
	r, is := message.(*Request)
	if !is {
		return nil, fmt.Errorf("encode %T: it is no request", message)
	}
	var out []byte
	for i := range r.Options {
		option, err := r.Options[i].encode()
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, fieldOptions, option)
	}
	for _, group := range slices.Sorted(maps.Keys(r.Nodes)) {
		node, err := r.Nodes[group].Marshal()
		if err != nil {
			return nil, fmt.Errorf("encode the next node of %s: %w", group, err)
		}
		out = appendBytes(out, fieldNodes, appendBytes(appendBytes(nil, fieldKey, []byte(group)), fieldValue, node))
	}
	return out, nil
}

func (o *Option) encode() ([]byte, error) {
	out := appendBytes(nil, fieldGroup, []byte(o.Group))
	out = protowire.AppendTag(out, fieldCount, protowire.VarintType)
	out = protowire.AppendVarint(out, uint64(min(o.Nodes, math.MaxInt32)))
	out = appendBytes(out, fieldDebug, []byte(o.Debug))
	for _, p := range o.Pods {
		pod, err := p.Marshal()
		if err != nil {
			return nil, fmt.Errorf("encode pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		out = appendBytes(out, fieldPods, pod)
	}
	return out, nil
}

func appendBytes(to []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), value)
}

// response is what a server says.
type response struct{ groups []string }

// Unmarshal decodes a *response.
func (wire) Unmarshal(data []byte, message any) error {
	r, is := message.(*response)
	if !is {
		return fmt.Errorf("decode %T: it is no response", message)
	}
	r.groups = nil
	return eachBytes(data, fieldOptions, func(option []byte) error {
		return eachBytes(option, fieldGroup, func(group []byte) error {
			r.groups = append(r.groups, string(group))
			return nil
		})
	})
}

// eachBytes passes on each value of a field of a message, and skips the other fields.
func eachBytes(message []byte, field protowire.Number, each func([]byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("decode a message: %w", protowire.ParseError(n))
		}
		message = message[n:]
		if number != field || kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
				return fmt.Errorf("decode field %d: %w", number, protowire.ParseError(n))
			}
			message = message[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return fmt.Errorf("decode field %d: %w", number, protowire.ParseError(n))
		}
		if err := each(value); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
