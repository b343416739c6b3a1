/*
 * kube/credential_pem.h - whether TLS can use this PEM. Checked before it replaces what works: a
 * file may be caught while it is being written, or a certificate before its key.
 */
#ifndef MUSTER_CREDENTIAL_PEM_H
#define MUSTER_CREDENTIAL_PEM_H

#include "kubeconfig_bytes.h"

/* NULL: it is; else what is wrong. */
const char *pem_fault_ca(const struct bytes *ca);
const char *pem_fault_pair(const struct bytes *cert, const struct bytes *key);

#endif
