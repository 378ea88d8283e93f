package expander_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/expander"
)

// messages are the messages of the service as a server knows them, made from their definition and not from the code under test.
func messages(t *testing.T) (request, response protoreflect.MessageDescriptor) {
	t.Helper()
	label, repeated := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, l descriptorpb.FieldDescriptorProto_Label, of string) *descriptorpb.FieldDescriptorProto {
		out := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &l}
		if of != "" {
			out.TypeName = &of
		}
		return out
	}
	const text, number, bytes, message = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_BYTES, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("expander.proto"), Package: proto.String("grpcplugin"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("BestOptionsRequest"), Field: []*descriptorpb.FieldDescriptorProto{
				field("options", 1, message, repeated, ".grpcplugin.Option"), field("nodeBytesMap", 3, message, repeated, ".grpcplugin.BestOptionsRequest.NodeBytesMapEntry"),
			}, NestedType: []*descriptorpb.DescriptorProto{{
				Name: proto.String("NodeBytesMapEntry"), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
				Field: []*descriptorpb.FieldDescriptorProto{field("key", 1, text, label, ""), field("value", 2, bytes, label, "")},
			}}},
			{Name: proto.String("BestOptionsResponse"), Field: []*descriptorpb.FieldDescriptorProto{field("options", 1, message, repeated, ".grpcplugin.Option")}},
			{Name: proto.String("Option"), Field: []*descriptorpb.FieldDescriptorProto{
				field("nodeGroupId", 1, text, label, ""), field("nodeCount", 2, number, label, ""), field("debug", 3, text, label, ""), field("podBytes", 5, bytes, repeated, ""),
			}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName("BestOptionsRequest"), file.Messages().ByName("BestOptionsResponse")
}

// serve runs a server of the service on this machine, with a certificate of its own, until the test ends. It returns the address and
// the file with the certificate.
func serve(t *testing.T, answer func(request protoreflect.Message, response *dynamicpb.Message) error) (address, certificate string) {
	t.Helper()
	in, out := messages(t)
	pair, certificate := certificateFor(t, "127.0.0.1")
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "grpcplugin.Expander", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "BestOptions",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			request, response := dynamicpb.NewMessage(in), dynamicpb.NewMessage(out)
			if err := decode(request); err != nil {
				return nil, err
			}
			return response, answer(request, response)
		},
	}}}, struct{}{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), certificate
}

// certificateFor makes a certificate for an address that signs itself, and writes it to a file.
func certificateFor(t *testing.T, address string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "expander"}, IPAddresses: []net.IP{net.ParseIP(address)},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "expander.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func dial(t *testing.T, address, certificate string) *expander.Client {
	t.Helper()
	client, err := expander.Dial(address, certificate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// describe writes a request in words, decoded by the server.
func describe(t *testing.T, request protoreflect.Message) (out []string) {
	t.Helper()
	fields := request.Descriptor().Fields()
	options := request.Get(fields.ByName("options")).List()
	for i := range options.Len() {
		option := options.Get(i).Message()
		get := func(name protoreflect.Name) protoreflect.Value {
			return option.Get(option.Descriptor().Fields().ByName(name))
		}
		line := fmt.Sprintf("%s %d (%s):", get("nodeGroupId"), get("nodeCount").Int(), get("debug"))
		pods := get("podBytes").List()
		for k := range pods.Len() {
			var pod corev1.Pod
			if err := pod.Unmarshal(pods.Get(k).Bytes()); err != nil {
				t.Error(err)
			}
			line += fmt.Sprintf(" %s/%s cpu=%s", pod.Namespace, pod.Name, pod.Spec.Containers[0].Resources.Requests.Cpu())
		}
		out = append(out, line)
	}
	nodes := request.Get(fields.ByName("nodeBytesMap")).Map()
	nodes.Range(func(group protoreflect.MapKey, bytes protoreflect.Value) bool {
		var node corev1.Node
		if err := node.Unmarshal(bytes.Bytes()); err != nil {
			t.Error(err)
		}
		out = append(out, fmt.Sprintf("%s is like %s cpu=%s", group, node.Name, node.Status.Allocatable.Cpu()))
		return true
	})
	return out
}

// keep adds options with these groups to a response.
func keep(response *dynamicpb.Message, groups ...string) {
	field := response.Descriptor().Fields().ByName("options")
	list := response.Mutable(field).List()
	for _, group := range groups {
		option := dynamicpb.NewMessage(field.Message())
		option.Set(field.Message().Fields().ByName("nodeGroupId"), protoreflect.ValueOfString(group))
		option.Set(field.Message().Fields().ByName("nodeCount"), protoreflect.ValueOfInt32(2))
		option.Set(field.Message().Fields().ByName("debug"), protoreflect.ValueOfString("kept"))
		list.Append(protoreflect.ValueOfMessage(option))
	}
}

// A server that knows the service by its definition reads the question, and its answer is read.
func TestServerReadsQuestions(t *testing.T) {
	t.Parallel()
	var got []string
	address, certificate := serve(t, func(request protoreflect.Message, response *dynamicpb.Message) error {
		got = describe(t, request)
		keep(response, "web-spot", "other")
		return nil
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
	}}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "next"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4")}}}
	groups, err := dial(t, address, certificate).BestOptions(t.Context(), expander.Request{
		Options: []expander.Option{{Group: "web-spot", Nodes: 2, Debug: "two", Pods: []*corev1.Pod{pod, pod}}, {Group: "web", Nodes: 1}},
		Nodes:   map[string]*corev1.Node{"web-spot": node},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"web-spot", "other"}, groups); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	want := []string{"web-spot 2 (two): default/x cpu=500m default/x cpu=500m", "web 1 ():", "web-spot is like next cpu=4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
}

// A server that fails, has another certificate or does not exist gives an error, and so does a certificate that cannot be read.
func TestServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	address, certificate := serve(t, func(protoreflect.Message, *dynamicpb.Message) error { return errors.New("no idea") })
	_, other := certificateFor(t, "127.0.0.1")
	for name, tc := range map[string]struct{ address, certificate, want string }{
		"it fails":            {address, certificate, "no idea"},
		"another certificate": {address, other, "certificate"},
		"no such server":      {"127.0.0.1:1", certificate, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := dial(t, tc.address, tc.certificate).BestOptions(t.Context(), expander.Request{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := expander.Dial(address, "missing.pem"); err == nil {
		t.Error("a certificate that does not exist was read")
	}
}
