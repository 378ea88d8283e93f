{{/* A list of terms, each with the chart's selector unless it has one. */}}
{{- define "tenon.selected" -}}
{{- $selector := dict "matchLabels" (include "tenon.selectorLabels" .root | fromYaml) }}
{{- $terms := list }}
{{- range .list }}{{ $terms = append $terms (merge (deepCopy .) (ternary (dict) (dict "labelSelector" $selector) (hasKey . "labelSelector"))) }}{{ end }}
{{- toYaml $terms }}
{{- end }}

{{- define "tenon.affinity" -}}
{{- $affinity := deepCopy .affinity }}
{{- with $affinity.podAntiAffinity }}
{{- with .requiredDuringSchedulingIgnoredDuringExecution }}
{{- $_ := set $affinity.podAntiAffinity "requiredDuringSchedulingIgnoredDuringExecution" (include "tenon.selected" (dict "list" . "root" $.root) | fromYamlArray) }}
{{- end }}
{{- end }}
{{- toYaml $affinity }}
{{- end }}

{{/* One variable of the settings: texts are templates, an empty text is left to the program's default. */}}
{{- define "tenon.variable" -}}
{{- if not (or (kindIs "invalid" .value) (eq (toString .value) "")) }}
- name: {{ .name }}
  value: {{ tpl (toString .value) .root | quote }}
{{- end }}
{{- end }}

{{- define "tenon.env" -}}
- name: KUBERNETES_MIN_VERSION
  value: "1.19.0-0"
- name: SYSTEM_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: MEMORY_LIMIT
  valueFrom:
    resourceFieldRef:
      containerName: {{ .Values.controller.containerName }}
      divisor: "0"
      resource: limits.memory
- name: CPU_REQUESTS
  valueFrom:
    resourceFieldRef:
      containerName: {{ .Values.controller.containerName }}
      divisor: 1m
      resource: requests.cpu
{{- $s := .Values.settings }}
{{- range $pair := list
  (list "METRICS_PORT" .Values.controller.metrics.port)
  (list "HEALTH_PROBE_PORT" .Values.controller.healthProbe.port)
  (list "MODE" $s.mode)
  (list "DASHBOARD_LISTEN" $s.dashboardListen)
  (list "DASHBOARD_TOKEN_FILE" $s.dashboardTokenFile)
  (list "DASHBOARD_LINKS" (join " " $s.dashboardLinks))
  (list "DASHBOARD_PROMETHEUS" $s.dashboardPrometheus)
  (list "LOG_LEVEL" .Values.logLevel)
  (list "LOG_OUTPUT_PATHS" (join "," .Values.logOutputPaths))
  (list "LOG_ERROR_OUTPUT_PATHS" (join "," .Values.logErrorOutputPaths))
  (list "BATCH_MAX_DURATION" $s.batchMaxDuration)
  (list "BATCH_IDLE_DURATION" $s.batchIdleDuration)
  (list "PREFERENCE_POLICY" $s.preferencePolicy)
  (list "MIN_VALUES_POLICY" $s.minValuesPolicy)
  (list "CLUSTER_CA_BUNDLE" $s.clusterCABundle)
  (list "CLUSTER_NAME" $s.clusterName)
  (list "CLUSTER_ENDPOINT" $s.clusterEndpoint)
  (list "ISOLATED_VPC" $s.isolatedVPC)
  (list "EKS_CONTROL_PLANE" $s.eksControlPlane)
  (list "VM_MEMORY_OVERHEAD_PERCENT" $s.vmMemoryOverheadPercent)
  (list "INTERRUPTION_QUEUE" $s.interruptionQueue)
  (list "NODES" (join "\n" $s.nodes))
  (list "NODE_GROUP_AUTO_DISCOVERY" (join "\n" $s.nodeGroupAutoDiscovery))
  (list "ENABLE_PROVISIONING_REQUESTS" $s.enableProvisioningRequests)
  (list "ALLOWED_SCHEDULER_NAMES" (join "," $s.allowedSchedulerNames))
  (list "MAX_NODES_TOTAL" $s.maxNodesTotal)
  (list "CORES_TOTAL" $s.coresTotal)
  (list "MEMORY_TOTAL" $s.memoryTotal)
  (list "GPU_TOTAL" (join "\n" $s.gpuTotal))
  (list "RESERVED_ENIS" $s.reservedENIs)
  (list "ENABLE_ZONAL_SHIFT" $s.enableZonalShift)
  (list "DISABLE_CLUSTER_STATE_OBSERVABILITY" $s.disableClusterStateObservability)
  (list "DISABLE_DRY_RUN" $s.disableDryRun)
  (list "IGNORE_DRA_REQUESTS" $s.ignoreDRARequests)
  (list "AMI_REFRESH_INTERVAL" $s.amiRefreshInterval)
  (list "SUBNET_REFRESH_INTERVAL" $s.subnetRefreshInterval)
  (list "FEATURE_GATES" (include "tenon.gates" $s.featureGates))
  (list "AWS_FEATURE_GATES" (include "tenon.gates" $s.awsFeatureGates))
}}
{{- include "tenon.variable" (dict "name" (index $pair 0) "value" (index $pair 1) "root" $) }}
{{- end }}
{{- with .Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end }}
