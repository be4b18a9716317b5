{{- define "paylatch.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* The labels by which this release's Pods are found. */ -}}
{{- define "paylatch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "paylatch.labels" -}}
{{ include "paylatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "paylatch.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* paylatch.yaml, with the pooler. */ -}}
{{- define "paylatch.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if .Values.pooler.enabled }}
{{- $config = mustMergeOverwrite $config (dict "database" (dict "pooler" "transaction" "direct_url" "${DIRECT_URL}")) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- define "paylatch.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* A Deployment of one role: a dict of root, name, component, args and replicas. */ -}}
{{- define "paylatch.deployment" -}}
{{- $root := .root -}}
{{- with .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $.name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "paylatch.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $.component }}
spec:
  replicas: {{ $.replicas }}
  # The old processes go on until the new ones are ready.
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  selector:
    matchLabels: &selector
      {{- include "paylatch.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
  template:
    metadata:
      labels:
        {{- include "paylatch.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
      annotations:
        # A change of the configuration replaces the processes.
        checksum/config: {{ include "paylatch.config" $root | sha256sum }}
        {{- with .podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with .imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      terminationGracePeriodSeconds: {{ .terminationGracePeriodSeconds }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: *selector
      {{- with .nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- if .migrate.enabled }}
      initContainers:
        # Not a Job: this runs before each process and does nothing if the schema is up to date. Several may run at once: one migrates, and
        # the others wait.
        {{- range list (dict "name" "migrate" "args" (list "migrate" "up")) (dict "name" "grants" "args" (list "migrate" "grants" "--to" .migrate.servingRole)) }}
        - name: {{ .name }}
          image: {{ include "paylatch.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: {{ toJson .args }}
          # Only these two containers have the owner's address. They read no configuration.
          envFrom:
            - secretRef: {name: {{ $root.Values.ownerSecret.name }}}
          {{- with $root.Values.extraVolumeMounts }}
          volumeMounts:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          resources:
            {{- toYaml $root.Values.resources | nindent 12 }}
          securityContext:
            {{- include "paylatch.securityContext" $root | nindent 12 }}
        {{- end }}
      {{- end }}
      containers:
        - name: paylatch
          image: {{ include "paylatch.image" $root | quote }}
          imagePullPolicy: {{ .image.pullPolicy }}
          args: {{ toJson $.args }}
          env:
            - {name: PAYLATCH_CONFIG, value: /etc/paylatch/paylatch.yaml}
            - {name: PAYLATCH_DATA_DIR, value: /state}
            {{- range $name, $value := .env }}
            - {name: {{ $name }}, value: {{ $value | quote }}}
            {{- end }}
          envFrom:
            - secretRef: {name: {{ .secret.name }}}
          volumeMounts:
            - {name: config, mountPath: /etc/paylatch, readOnly: true}
            - {name: state, mountPath: /state}
            {{- with .extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          resources:
            {{- toYaml .resources | nindent 12 }}
          securityContext:
            {{- include "paylatch.securityContext" $root | nindent 12 }}
          ports:
            - {name: http, containerPort: 8080}
            - {name: operations, containerPort: 9091}
          # Restart by /healthz, route by /readyz, also at the start: a process waits for its database, and a restart would not help.
          startupProbe:
            httpGet: {path: /healthz, port: operations}
            periodSeconds: 1
            failureThreshold: 60
          readinessProbe:
            httpGet: {path: /readyz, port: operations}
            periodSeconds: 5
            timeoutSeconds: 7 # three checks of at most 2 s each
            failureThreshold: 2
          livenessProbe:
            httpGet: {path: /healthz, port: operations}
            periodSeconds: 10
            timeoutSeconds: 3
            failureThreshold: 3
          lifecycle:
            preStop:
              # Until no new requests arrive: at SIGTERM the process stops accepting connections. Needs Kubernetes 1.30.
              sleep: {seconds: 5}
      volumes:
        - name: config
          configMap: {name: {{ include "paylatch.name" $root }}}
        # The copy of the mark by which paylatch notices a restored database. It outlives the process, but not the Pod; one remaining Pod is
        # enough.
        - name: state
          emptyDir: {}
        {{- with .extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end }}
{{- end }}
