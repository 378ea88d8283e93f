package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tenon/internal/clusterautoscaler"
	"tenon/internal/source"
)

func groupsCommand(w Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "groups",
		Short: "Bring node groups along from Cluster Autoscaler, and turn them into pools",
		Long:  `Bring node groups along from Cluster Autoscaler, and turn them into pools. See docs/migrating-from-cluster-autoscaler.md.`,
		Example: `  tenon groups import > values.yaml
  tenon groups convert web > pool.yaml
  tenon groups check web`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(groupsImportCommand(w), groupsConvertCommand(w), groupsCheckCommand(w))
	return cmd
}

// importFlags are those of groups import.
type importFlags struct {
	files                                   []string
	deployment, kubeconfig, context, output string
}

func groupsImportCommand(w Env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Say what becomes of the settings of a Cluster Autoscaler",
		Long: `Say what becomes of the settings of a Cluster Autoscaler. Its Deployment and the ConfigMap of
its priorities are read, from a cluster or from files; nothing is changed. Values for the
chart come out, with which Tenon shows the same node groups.

What a person should know is on standard error, one line a setting:
  lost      nothing of Tenon does that: you have to decide
  changed   something does nearly that, or it is set at another place
  kept      it is carried over, and means the same
  needless  Tenon works without it

Exit status: 0 when nothing is lost; 2 when some setting is lost; 1 when no Cluster
Autoscaler was found, or the input was wrong.`,
		Example: `  tenon groups import > values.yaml
  tenon groups import --deployment kube-system/cluster-autoscaler -o json | jq '.notes[] | select(.effect == "lost")'
  kubectl get deployments,configmaps -n kube-system -o yaml | tenon groups import -f -`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGroupsImport(cmd.Context(), w, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file or directory of objects, - for standard input; may be given several times")
	flags.StringVar(&f.deployment, "deployment", "", "NAMESPACE/NAME of the Deployment; needed if several run Cluster Autoscaler")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says which cluster to look at; empty: KUBECONFIG, else ~/.kube/config, else the pod's service account")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringVarP(&f.output, "output", "o", "values", "format: values, for the chart, with notes on standard error; or json, yaml or jsonpath=TEMPLATE with all in one")
	return cmd
}

func runGroupsImport(ctx context.Context, w Env, f importFlags) error {
	if err := checkOutput(f.output, "values", "json", "yaml", outputPath); err != nil {
		return err
	}
	setUp, err := readSetUp(ctx, w, f)
	if err != nil {
		return err
	}
	chosen, err := chooseDeployment(setUp.deployments, f.deployment)
	if err != nil {
		return err
	}
	result, err := clusterautoscaler.Import(chosen, setUp.priorities(chosen))
	if err != nil {
		return err
	}
	if err := writeImport(w, f.output, result); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if !result.Complete() {
		return ErrIncomplete
	}
	return nil
}

// setUp are the objects that say how Cluster Autoscaler is set up.
type setUp struct {
	deployments []appsv1.Deployment
	configMaps  []corev1.ConfigMap
}

// priorities is the ConfigMap that a Deployment would read; nil if there is none.
func (s setUp) priorities(d *appsv1.Deployment) *corev1.ConfigMap {
	namespace := d.Namespace
	if command, is := clusterautoscaler.CommandOf(d); is {
		for _, said := range command.Values("namespace") {
			namespace = said
		}
	}
	for i := range s.configMaps {
		if m := &s.configMaps[i]; m.Name == clusterautoscaler.PriorityConfigMap && m.Namespace == namespace {
			return m
		}
	}
	return nil
}

func readSetUp(ctx context.Context, w Env, f importFlags) (setUp, error) {
	if len(f.files) > 0 {
		return setUpOfFiles(w, f.files)
	}
	config, title, err := cluster(f.kubeconfig, f.context, w)
	if err != nil {
		return setUp{}, err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return setUp{}, fmt.Errorf("prepare a client for %s: %w", title, err)
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	deployments, err := clients.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return setUp{}, fmt.Errorf("list the deployments of %s: %w", title, err)
	}
	s := setUp{deployments: deployments.Items}
	only := metav1.ListOptions{FieldSelector: "metadata.name=" + clusterautoscaler.PriorityConfigMap}
	configMaps, err := clients.CoreV1().ConfigMaps("").List(ctx, only)
	if err != nil {
		return setUp{}, fmt.Errorf("read the ConfigMap %s of %s: %w", clusterautoscaler.PriorityConfigMap, title, err)
	}
	s.configMaps = configMaps.Items
	return s, nil
}

// importTimeout is how long the API server may take.
const importTimeout = 30 * time.Second

func setUpOfFiles(w Env, files []string) (setUp, error) {
	documents, problems := source.Read(files, w.In)
	if len(problems) > 0 {
		return setUp{}, errors.Join(problems...)
	}
	var s setUp
	for _, d := range documents {
		var err error
		switch d.Kind() {
		case "Deployment":
			s.deployments, err = decoded(s.deployments, d)
		case "ConfigMap":
			s.configMaps, err = decoded(s.configMaps, d)
		}
		if err != nil {
			return setUp{}, fmt.Errorf("%s: document %d: read %s: %w", d.File, d.Number, d.Object(), err)
		}
	}
	return s, nil
}

// decoded adds the object of a document to a list.
func decoded[T any](list []T, d source.Document) ([]T, error) {
	var object T
	fields, err := d.Map()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	return append(list, object), err
}

// chooseDeployment finds the one Deployment of Cluster Autoscaler, or the named one.
func chooseDeployment(deployments []appsv1.Deployment, named string) (*appsv1.Deployment, error) {
	var found []*appsv1.Deployment
	var names []string
	for i := range deployments {
		d := &deployments[i]
		name := client.ObjectKeyFromObject(d).String()
		if named != "" && name == named {
			return d, nil
		}
		if _, is := clusterautoscaler.CommandOf(d); is {
			found, names = append(found, d), append(names, name)
		}
	}
	switch {
	case named != "":
		return nil, fmt.Errorf("there is no Deployment %s among %d; give --deployment as NAMESPACE/NAME", named, len(deployments))
	case len(found) == 0:
		return nil, fmt.Errorf("among %d Deployments none runs Cluster Autoscaler; name it with --deployment NAMESPACE/NAME, or give its manifest with -f", len(deployments))
	case len(found) > 1:
		return nil, fmt.Errorf("several Deployments run Cluster Autoscaler: %s; choose one with --deployment", strings.Join(names, ", "))
	}
	return found[0], nil
}

func writeImport(w Env, format string, r clusterautoscaler.Result) error {
	if template, found := strings.CutPrefix(format, outputPath); found {
		return writeTemplate(w.Out, template, r)
	}
	if format == "json" {
		encoder := json.NewEncoder(w.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	var object any = r
	if format == "values" {
		object = r.Values
		for _, n := range r.Notes {
			fmt.Fprintf(w.Err, "%-8s %s: %s\n", n.Effect, n.Setting, n.Text)
		}
		fmt.Fprintf(w.Err, "to go back: kubectl scale -n %s deployment/%s --replicas=%d\n", r.Namespace, r.Deployment, r.Replicas)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	_, err = w.Out.Write(text)
	return err
}
