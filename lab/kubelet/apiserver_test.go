package kubelet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// apiServer is a small API server in memory. Clients reach it through its RoundTrip, so the real client
// talks to it without a network and inside a synctest bubble. It implements the rules that kubelets depend
// on: resource versions and conflicts, UIDs, the status subresource, graceful deletion of pods, and
// finalizers.
type apiServer struct {
	mu       sync.Mutex
	version  int
	objects  map[string]map[string]object // by resource, then by namespace/name
	watchers map[*watcher]bool
	history  []event
	writes   map[string]int // by verb, resource and subresource
}

type object interface{ metav1.Object }

type watcher struct {
	resource string
	matches  func(object) bool
	events   chan []byte
}

// event is one change, kept so that a watch can begin where a list ended.
type event struct {
	version  int
	resource string
	object   object
	text     []byte
}

var prototypes = map[string]func() object{
	"nodes":                  func() object { return &v1.Node{} },
	"pods":                   func() object { return &v1.Pod{} },
	"persistentvolumes":      func() object { return &v1.PersistentVolume{} },
	"persistentvolumeclaims": func() object { return &v1.PersistentVolumeClaim{} },
	"storageclasses":         func() object { return &storage.StorageClass{} },
	"volumeattachments":      func() object { return &storage.VolumeAttachment{} },
	"csinodes":               func() object { return &storage.CSINode{} },
	"leases":                 func() object { return &coordination.Lease{} },
}

func newAPIServer() *apiServer {
	s := &apiServer{objects: map[string]map[string]object{}, watchers: map[*watcher]bool{}, writes: map[string]int{}}
	for resource := range prototypes {
		s.objects[resource] = map[string]object{}
	}
	return s
}

// config returns a client configuration that reaches the server.
func (s *apiServer) config() *rest.Config {
	return &rest.Config{Host: "http://lab.invalid", Transport: s}
}

type call struct {
	verb, resource, namespace, name, subresource string
	query                                        map[string][]string
	contentType                                  string
	body                                         []byte
}

func (c call) key() string { return c.namespace + "/" + c.name }

func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := parse(r)
	if err != nil {
		return nil, err
	}
	if c.verb == http.MethodGet && c.name == "" && slices.Contains(c.query["watch"], "true") {
		return s.watch(r, c), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.verb != http.MethodGet {
		s.writes[strings.TrimSuffix(c.verb+" "+c.resource+"/"+c.subresource, "/")]++
	}
	answer, failure := s.serve(c)
	if failure != nil {
		status := failure.Status()
		status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return respond(int(status.Code), status), nil
	}
	return respond(http.StatusOK, answer), nil
}

// parse reads /api/v1/[namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]] and the same under /apis/GROUP.
func parse(r *http.Request) (call, error) {
	c := call{verb: r.Method, query: r.URL.Query(), contentType: r.Header.Get("Content-Type")}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	parts = parts[map[string]int{"api": 2, "apis": 3}[parts[0]]:]
	if parts[0] == "namespaces" {
		c.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	c.resource, c.name, c.subresource = parts[0], parts[1], parts[2]
	if r.Body == nil {
		return c, nil
	}
	defer r.Body.Close()
	var err error
	c.body, err = io.ReadAll(r.Body)
	return c, err
}

func respond(code int, answer any) *http.Response {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // API objects can be written as JSON
	}
	return &http.Response{
		StatusCode: code,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(text)),
	}
}

func (s *apiServer) serve(c call) (any, *apierrors.StatusError) {
	group := schema.GroupResource{Resource: c.resource}
	old, exists := s.objects[c.resource][c.key()]
	switch {
	case c.verb == http.MethodGet && c.name == "":
		return s.list(c), nil
	case c.verb == http.MethodPost:
		return s.create(c)
	case !exists:
		return nil, apierrors.NewNotFound(group, c.name)
	case c.verb == http.MethodGet:
		return old, nil
	case c.verb == http.MethodDelete:
		return s.delete(c, old)
	case c.verb == http.MethodPatch:
		return s.patch(c, old)
	case c.verb == http.MethodPut:
		return s.replace(c, old, received(c.body).(object))
	default:
		return nil, apierrors.NewMethodNotSupported(group, c.verb)
	}
}

func (s *apiServer) list(c call) any {
	matches := selects(c)
	items := []object{}
	for _, key := range slices.Sorted(maps.Keys(s.objects[c.resource])) {
		if o := s.objects[c.resource][key]; matches(o) {
			items = append(items, o)
		}
	}
	kind := reflect.TypeOf(prototypes[c.resource]()).Elem().Name() + "List"
	return map[string]any{"kind": kind, "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items}
}

func selects(c call) func(object) bool {
	assigned := slices.Contains(c.query["fieldSelector"], "spec.nodeName!=")
	return func(o object) bool {
		p, isPod := o.(*v1.Pod)
		return !assigned || !isPod || p.Spec.NodeName != ""
	}
}

func (s *apiServer) create(c call) (any, *apierrors.StatusError) {
	o := received(c.body).(object)
	key := c.namespace + "/" + o.GetName()
	if _, exists := s.objects[c.resource][key]; exists {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: c.resource}, o.GetName())
	}
	o.SetNamespace(c.namespace)
	o.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version+1)))
	o.SetCreationTimestamp(metav1.NewTime(time.Now()))
	if p, isPod := o.(*v1.Pod); isPod {
		p.Status = v1.PodStatus{Phase: v1.PodPending}
	}
	s.store("ADDED", c.resource, key, o)
	return o, nil
}

func (s *apiServer) patch(c call, old object) (any, *apierrors.StatusError) {
	before, err := json.Marshal(old)
	if err != nil {
		panic(err) // API objects can be written as JSON
	}
	var after []byte
	if c.contentType == string(types.StrategicMergePatchType) {
		after, err = strategicpatch.StrategicMergePatch(before, c.body, prototypes[c.resource]())
	} else {
		after, err = jsonpatch.MergePatch(before, c.body)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	is := prototypes[c.resource]()
	mustParse(after, is)
	return s.replace(c, old, is)
}

// replace writes the part of an object that the call is about.
func (s *apiServer) replace(c call, old, is object) (any, *apierrors.StatusError) {
	group := schema.GroupResource{Resource: c.resource}
	if is.GetUID() != "" && is.GetUID() != old.GetUID() {
		return nil, apierrors.NewConflict(group, c.name, fmt.Errorf("uid mismatch"))
	}
	if is.GetResourceVersion() != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(group, c.name, fmt.Errorf("the object has been modified"))
	}
	is.SetUID(old.GetUID())
	is.SetCreationTimestamp(old.GetCreationTimestamp())
	if status := field(is, "Status"); status.IsValid() {
		if c.subresource == "status" {
			merged := clone(c.resource, old)
			field(merged, "Status").Set(status)
			is = merged
		} else {
			status.Set(field(clone(c.resource, old), "Status"))
		}
	}
	if reflect.DeepEqual(is, old) {
		return old, nil // the API server writes nothing either
	}
	if is.GetDeletionTimestamp() != nil && len(is.GetFinalizers()) == 0 && zeroGrace(is) {
		s.remove(c.resource, c.key(), is)
		return is, nil
	}
	s.store("MODIFIED", c.resource, c.key(), is)
	return is, nil
}

func zeroGrace(o object) bool {
	grace := o.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}

// delete follows the API server: pods on a node wait for their kubelet, and finalizers keep any object.
func (s *apiServer) delete(c call, old object) (any, *apierrors.StatusError) {
	var options metav1.DeleteOptions
	if len(c.body) > 0 {
		options = *received(c.body).(*metav1.DeleteOptions)
	}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != old.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: c.resource}, c.name, fmt.Errorf("precondition failed"))
	}
	grace := graceOf(old, options)
	if grace == 0 && len(old.GetFinalizers()) == 0 {
		s.remove(c.resource, c.key(), old)
		return old, nil
	}
	dying := clone(c.resource, old)
	if was := dying.GetDeletionGracePeriodSeconds(); was == nil || grace < *was {
		at := metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second))
		dying.SetDeletionTimestamp(&at)
		dying.SetDeletionGracePeriodSeconds(&grace)
		s.store("MODIFIED", c.resource, c.key(), dying)
	}
	return dying, nil
}

func graceOf(o object, options metav1.DeleteOptions) int64 {
	p, isPod := o.(*v1.Pod)
	switch {
	case !isPod, p.Spec.NodeName == "", p.Status.Phase == v1.PodSucceeded, p.Status.Phase == v1.PodFailed:
		return 0
	case options.GracePeriodSeconds != nil:
		return *options.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		return *p.Spec.TerminationGracePeriodSeconds
	default:
		return 30
	}
}

func (s *apiServer) store(event, resource, key string, o object) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[resource][key] = o
	s.tell(event, resource, o)
}

func (s *apiServer) remove(resource, key string, o object) {
	last := clone(resource, o)
	s.version++
	last.SetResourceVersion(strconv.Itoa(s.version))
	delete(s.objects[resource], key)
	s.tell("DELETED", resource, last)
}

func (s *apiServer) tell(change, resource string, o object) {
	text, err := json.Marshal(map[string]any{"type": change, "object": withKind(resource, o)})
	if err != nil {
		panic(err) // API objects can be written as JSON
	}
	e := event{version: s.version, resource: resource, object: o, text: text}
	s.history = append(s.history, e)
	for w := range s.watchers {
		w.offer(e)
	}
}

func (w *watcher) offer(e event) {
	if w.resource == e.resource && w.matches(e.object) {
		w.events <- e.text // the buffer is larger than any test needs
	}
}

// watch streams the changes after the requested version, until the request's context ends.
func (s *apiServer) watch(r *http.Request, c call) *http.Response {
	if len(c.query["sendInitialEvents"]) > 0 {
		failure := apierrors.NewBadRequest("no streaming lists here").Status()
		failure.Reason, failure.Code = metav1.StatusReasonInvalid, http.StatusUnprocessableEntity
		failure.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return respond(http.StatusUnprocessableEntity, failure)
	}
	w := &watcher{resource: c.resource, matches: selects(c), events: make(chan []byte, 1<<16)}
	s.follow(w, c)
	reader, writer := io.Pipe()
	go func() {
		defer writer.Close()
		defer s.unwatch(w)
		for {
			select {
			case <-r.Context().Done():
				return
			case text := <-w.events:
				if _, err := writer.Write(text); err != nil {
					return
				}
			}
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: reader}
}

// follow begins with the events that the client has missed.
func (s *apiServer) follow(w *watcher, c call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, err := strconv.Atoi(c.query["resourceVersion"][0])
	if err != nil {
		panic(err) // clients send the version of an earlier list
	}
	for _, e := range s.history {
		if e.version > since {
			w.offer(e)
		}
	}
	s.watchers[w] = true
}

func (s *apiServer) unwatch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

func withKind(resource string, o object) object {
	named := clone(resource, o)
	group := map[string]string{"storageclasses": "storage.k8s.io/v1", "volumeattachments": "storage.k8s.io/v1", "csinodes": "storage.k8s.io/v1", "leases": "coordination.k8s.io/v1"}[resource]
	if group == "" {
		group = "v1"
	}
	meta := metav1.TypeMeta{Kind: reflect.TypeOf(o).Elem().Name(), APIVersion: group}
	field(named, "TypeMeta").Set(reflect.ValueOf(meta))
	return named
}

func field(o object, name string) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName(name) }

func clone(resource string, o object) object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // API objects can be written as JSON
	}
	copied := prototypes[resource]()
	mustParse(text, copied)
	return copied
}

// received decodes a request's body, in JSON or in protobuf.
func received(text []byte) runtime.Object {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		panic(fmt.Sprintf("client sent %q: %v", text, err))
	}
	return o
}

func mustParse(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic(fmt.Sprintf("client sent %s: %v", text, err))
	}
}
