// Package kubelet simulates the kubelets of a lab cluster: it makes instances join as Nodes, keeps their
// Leases fresh, runs the pods that the scheduler binds to them, and stands in for the EBS CSI driver and
// the cloud's node controller.
//
// Each decision of a kubelet is a pure function here (stepNode, stepPod, stepAttachment, stepClaim, ...):
// it takes an object and the time, and returns what to write and when to look again. The Fleet holds the
// watches, a queue of keys with their due times, and a bounded set of workers that carry the steps out.
// There is no goroutine for each node or pod.
//
// The package must not import k8s.io/kubernetes, so that it builds and tests in
// seconds; it sees a cluster only through the API, as a real kubelet does.
package kubelet
