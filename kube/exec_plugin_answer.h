/*
 * kube/exec_plugin_answer.h - ExecCredential: what is passed to a plugin (KUBERNETES_EXEC_INFO) and what
 * it answers.
 */
#ifndef MUSTER_EXEC_PLUGIN_ANSWER_H
#define MUSTER_EXEC_PLUGIN_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kubeconfig.h"

struct exec_answer {
	struct bytes	token, cert, key;	/* a token, a certificate with its key, or both */
	int64_t		expires_us;		/* since 1970; TIME_UNSET_US: unknown, good until refused */
};

/*
 * True, or false with a text that names what is wrong and never what the plugin wrote. api_version
 * is the one of the kubeconfig: an answer of another is refused, as client-go does.
 */
bool exec_answer_parse(struct exec_answer *a, const char *api_version, const char *json, size_t len,
    char *err, size_t size);
void exec_answer_wipe(struct exec_answer *a);

/* The JSON for KUBERNETES_EXEC_INFO; free it. The CA is that of k, from data or (once) from its file. */
char *exec_info(const struct kubeconfig *k);

#endif
