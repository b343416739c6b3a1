{{- define "muster.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "muster.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "muster.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "muster.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "muster.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The port of a setting such as ":8080"; "" where nothing listens. (root, actor, key, default) */ -}}
{{- define "muster.port" -}}
{{- $address := get (get .root.Values.actors .actor | default dict) .key | default .default -}}
{{- regexFind "[0-9]+$" $address | default "" -}}
{{- end -}}

{{- define "muster.secrets" -}}/var/run/secrets/muster{{- end -}}

{{- /* muster.yaml: the sections of the enabled actors, with the places of mounted credentials. */ -}}
{{- define "muster.config" -}}
{{- $given := dict
    "kube-watcher" (dict "lease-name" (include "muster.fullname" .))
    "lke-claimer" (dict "token-file" (printf "%s/lke-claimer/token" (include "muster.secrets" .)))
    "vpsie-claimer" (dict "credential-dir" (printf "%s/vpsie-claimer" (include "muster.secrets" .)))
    "vip-claimer" (dict "tls-dir" (printf "%s/vip-claimer" (include "muster.secrets" .))) -}}
{{- $sections := dict -}}
{{- range $name, $values := .Values.actors -}}
{{- if $values.enabled -}}
{{- $section := omit (deepCopy $values) "enabled" -}}
{{- $_ := set $sections $name (merge $section (get $given $name | default dict)) -}}
{{- end -}}
{{- end -}}
{{- $watcher := get $sections "kube-watcher" -}}
{{- if and (gt (int .Values.replicas) 1) (not (get $watcher "leader-elect")) -}}
{{- fail "replicas: more than one needs actors.kube-watcher.leader-elect: true, or each would write" -}}
{{- end -}}
{{- $file := dict "actors" $sections -}}
{{- if .Values.supervisor }}{{- $_ := set $file "supervisor" .Values.supervisor }}{{- end -}}
{{- toYaml $file -}}
{{- end -}}

{{- /* The rules of the enabled actors, each resource once; own: of the namespace alone. (root, own) */ -}}
{{- define "muster.rules" -}}
{{- $root := .root -}}
{{- $own := .own -}}
{{- $joined := dict -}}
{{- range $name, $values := .root.Values.actors -}}
{{- if $values.enabled -}}
{{- range ($root.Files.Get (printf "rights/%s.yaml" $name) | fromYamlArray) -}}
{{- $key := printf "%s|%s" (first .apiGroups) (first .resources) -}}
{{- if eq $own (eq (first .resources) "leases") -}}
{{- $_ := set $joined $key (concat (get $joined $key | default list) .verbs) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $shipped := "openshift.muller.dev" -}}
{{- $insights := get (get .root.Values.actors "kube-watcher") "insight-group" | default $shipped -}}
{{- range $key, $verbs := $joined }}
- apiGroups: [{{ index (splitList "|" $key) 0 | replace $shipped $insights | quote }}]
  resources: [{{ index (splitList "|" $key) 1 | quote }}]
  verbs: [{{- $comma := "" }}{{ range list "get" "list" "watch" "create" "update" "patch" "delete" }}
    {{- if has . $verbs }}{{ $comma }}{{ . }}{{ $comma = ", " }}{{ end }}{{ end }}]
{{- end -}}
{{- end -}}
