#!/bin/sh
# deploy/vip/secret.sh - the certificate of the hooks without cert-manager: prints a Secret.
#
#	deploy/vip/secret.sh | kubectl apply -f -
#
# The Secret has what deploy/vip/certificate.yaml gives: ca.crt, tls.crt, tls.key. Both certificates are new
# each time and valid for DAYS (365); run it again before they expire. vip-claimer and Cluster API both use a
# changed Secret without a restart. The key of the authority is not kept.
set -eu

namespace=${NAMESPACE:-muster-system}
service=${SERVICE:-vip-claimer}
days=${DAYS:-365}

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# new NAME REQUEST...: a key and what is made of it. openssl prints only its errors.
new()
{
	name=$1
	shift
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$name.key" "$@" 2>log ||
		{ cat log >&2; exit 1; }
}

new ca -x509 -subj "/CN=$service" -days "$days" -out ca.crt
new tls -new -subj "/CN=$service" -out tls.csr
cat >names <<EOF
subjectAltName=DNS:$service.$namespace.svc,DNS:$service.$namespace.svc.cluster.local
extendedKeyUsage=serverAuth
EOF
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days "$days" -extfile names \
	-out tls.crt 2>log || { cat log >&2; exit 1; }

encoded() { base64 <"$1" | tr -d '\n'; }
cat <<EOF
apiVersion: v1
kind: Secret
metadata:
  name: $service-tls
  namespace: $namespace
type: kubernetes.io/tls
data:
  ca.crt: $(encoded ca.crt)
  tls.crt: $(encoded tls.crt)
  tls.key: $(encoded tls.key)
EOF
