{{/* A release that is called karpenter keeps Karpenter's names, so that a release changes its chart alone. */}}
{{- define "tenon.name" -}}
{{- if .Values.nameOverride }}{{ .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains "karpenter" .Release.Name }}karpenter
{{- else }}{{ .Chart.Name }}
{{- end }}
{{- end }}

{{- define "tenon.fullname" -}}
{{- $name := include "tenon.name" . }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "tenon.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tenon.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tenon.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "tenon.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What every object has: a name comes before it. */}}
{{- define "tenon.metadata" -}}
labels:
  {{- include "tenon.labels" . | nindent 2 }}
{{- with .Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tenon.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "tenon.fullname" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "tenon.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "tenon.serviceAccount" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "tenon.image" -}}
{{- with .Values.controller.image -}}
{{ .repository }}{{ if .tag }}:{{ .tag }}{{ else if not .digest }}:{{ $.Chart.AppVersion }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* Gates as Name=true,Name=false: keys begin with a small letter in the values. */}}
{{- define "tenon.gates" -}}
{{- $gates := list }}
{{- range $name, $open := . }}{{ $gates = append $gates (printf "%s%s=%t" (substr 0 1 $name | upper) (substr 1 -1 $name) $open) }}{{ end }}
{{- join "," $gates }}
{{- end }}
