package demo

import "fmt"

// Dashboard says where the controller serves the fleet.
func Dashboard(address string) string {
	return fmt.Sprintf("\n  open http://%s    the fleet as it grows and shrinks, what it costs, and why", address)
}

// Text says what is there, what to watch, and what to type next. Plan is the command that plans.
func Text(aws, plan string) string {
	return fmt.Sprintf(`
  Tenon runs with its AWS provider against an emulated AWS. The pool of examples/basic.yaml and the
  workload of examples/inflate.yaml are applied; the workload grows and shrinks by itself until you
  scale it. Machines that are bought and ended show below with their prices, and so do those that
  get no node.

  to watch, with the KUBECONFIG above
    kubectl get nodeclaims -w
    curl -s %[1]s/lab/instances                every machine, what it costs now, why its node does not join
    curl -s %[1]s/lab/calls                    what Tenon asked AWS for, and how often
  to try
    kubectl scale deployment inflate --replicas 12       more than the pool's limit allows: see kubectl get events
    kubectl delete nodeclaim --all                       emptied, ended, replaced
    %[2]s     what would be bought now, at what price, and why
  to break
    curl -d '{"kind":"no-capacity","instanceTypes":["c6a.*","c7a.*"]}' %[1]s/lab/faults
    curl -d '{"kind":"instance-failure","how":"terminates","share":0.5}' %[1]s/lab/faults
    curl -d '{"kind":"boot-never-finishes"}' %[1]s/lab/faults
    curl -d '{"kind":"throttle","operations":["CreateFleet"],"rate":0.2,"burst":1}' %[1]s/lab/faults
    curl -X DELETE %[1]s/lab/faults            mend it; lab/aws/README.md has all kinds`, aws, plan)
}
