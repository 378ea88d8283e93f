package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// liveLike is a pod as kubectl prints it.
func liveLike(i int) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubernetes.io/config.seen: "2026-01-01T00:00:00.000000000Z"
  creationTimestamp: "2026-01-01T00:00:00Z"
  generateName: inflate-5d8f9c-
  labels:
    app: inflate
    pod-template-hash: 5d8f9c
  name: inflate-5d8f9c-%06d
  namespace: default
  ownerReferences:
  - apiVersion: apps/v1
    blockOwnerDeletion: true
    controller: true
    kind: ReplicaSet
    name: inflate-5d8f9c
    uid: 7a3b8c9d-1111-2222-3333-444455556666
  resourceVersion: "123456"
  uid: 00000000-1111-2222-3333-%012d
spec:
  containers:
  - env:
    - name: GREETING
      value: 'hello: "world"'
    - name: POD_IP
      valueFrom:
        fieldRef:
          apiVersion: v1
          fieldPath: status.podIP
    image: public.ecr.aws/eks-distro/kubernetes/pause:3.7
    imagePullPolicy: IfNotPresent
    name: inflate
    resources:
      requests:
        cpu: "1"
        memory: 256Mi
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
      name: kube-api-access-x
      readOnly: true
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 0
  tolerations:
  - effect: NoExecute
    key: node.kubernetes.io/not-ready
    operator: Exists
    tolerationSeconds: 300
  - effect: NoExecute
    key: node.kubernetes.io/unreachable
    operator: Exists
    tolerationSeconds: 300
  topologySpreadConstraints:
  - labelSelector:
      matchLabels:
        app: inflate
    maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
  volumes:
  - name: kube-api-access-x
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken:
          expirationSeconds: 3607
          path: token
      - configMap:
          items:
          - key: ca.crt
            path: ca.crt
          name: kube-root-ca.crt
status:
  conditions:
  - lastProbeTime: null
    lastTransitionTime: "2026-01-01T00:00:00Z"
    message: '0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available:
      3 No preemption victims found for incoming pod.'
    reason: Unschedulable
    status: "False"
    type: PodScheduled
  phase: Pending
  qosClass: Burstable
`, i, i)
}

// BenchmarkRead reads 5,000 pods as kubectl prints them: as many files, and one list.
func BenchmarkRead(b *testing.B) {
	const n = 5000
	directory, list := b.TempDir(), filepath.Join(b.TempDir(), "list.yaml")
	var all strings.Builder
	all.WriteString("apiVersion: v1\nitems:\n")
	for i := range n {
		text := liveLike(i)
		if err := os.WriteFile(filepath.Join(directory, fmt.Sprintf("pod-%06d.yaml", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		prefix := "- "
		for line := range strings.Lines(text) {
			all.WriteString(prefix + line)
			prefix = "  "
		}
	}
	all.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	if err := os.WriteFile(list, []byte(all.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{"files": directory, "list": list} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(n * len(liveLike(0))))
			b.ReportAllocs()
			for b.Loop() {
				objects, _, err := Read([]string{path}, Options{})
				if err != nil || len(objects.Pods) != n {
					b.Fatal(len(objects.Pods), err)
				}
			}
		})
	}
}
