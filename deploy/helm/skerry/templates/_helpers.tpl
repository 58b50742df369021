{{- define "skerry.labels" -}}
app.kubernetes.io/name: skerry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "skerry.image" -}}
{{- with .root.Values.images.repository }}{{ . }}/{{ end }}skerry-{{ .name }}:{{ .root.Values.images.tag }}
{{- end -}}

{{/* The names of the admin ports of pods with most workers, as a list. */}}
{{- define "skerry.adminPorts" -}}
{{- $most := 1 -}}
{{- range .Values.islands }}{{ $most = max $most (int .workers) }}{{ end -}}
{{- range $index := until (int $most) }}
- {{ ternary "admin" (printf "admin-%d" $index) (eq $index 0) }}
{{- end }}
{{- end -}}

{{/* The restricted profile, for pods and for containers. */}}
{{- define "skerry.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "skerry.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "skerry.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- include "skerry.podSecurity" . | nindent 2 }}
{{- with .Values.images.pullSecrets }}
imagePullSecrets: {{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run; `.` is the coordinator's or an island's values. */}}
{{- define "skerry.placement" -}}
terminationGracePeriodSeconds: {{ .terminationGracePeriodSeconds }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The volume `.name` with the certificate of the Secret `.secret`. */}}
{{- define "skerry.identityVolume" -}}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
{{- end -}}

{{/* Asks cert-manager for a Secret `.secret` with a certificate of `.who`. */}}
{{- define "skerry.certificate" -}}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ .secret }}
  labels: {{- include "skerry.labels" .root | nindent 4 }}
spec:
  secretName: {{ .secret }}
  issuerRef:
    name: {{ .root.Values.identity.issuer.name }}
    kind: {{ .root.Values.identity.issuer.kind }}
  duration: {{ .root.Values.identity.issuer.duration }}
  privateKey: {algorithm: ECDSA, size: 256, encoding: PKCS8, rotationPolicy: Always}
  usages: [digital signature, server auth, client auth]
  dnsNames: [skerry]
  uris: ["spiffe://{{ .root.Values.cluster }}/{{ .who }}"]
{{- end -}}

{{- define "skerry.certificateFlags" -}}
- --cert=/run/identity/tls.crt
- --key=/run/identity/tls.key
- --ca=/run/identity/ca.crt
{{- end -}}

{{- define "skerry.volumeClaim" -}}
- metadata:
    name: state
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .className }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests: {storage: {{ .size }}}
{{- end -}}

{{/* Life is asked of the admin port, whose number is `.port`. */}}
{{- define "skerry.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: {{ .port }}}
  periodSeconds: 5
  timeoutSeconds: 3
{{- end -}}
