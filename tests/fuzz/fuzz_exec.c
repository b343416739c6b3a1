/*
 * tests/fuzz/fuzz_exec.c - any bytes as what a credential plugin prints.
 *
 * Rule: the output is refused with one of our own texts, which contains nothing of the output; or it
 * is accepted, and then there is something that can be sent.
 */
#include <stdint.h>
#include <string.h>

#include "kube/exec_plugin_answer.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {
	"it printed no JSON (line ",
	"its answer is not of kind ExecCredential",
	"its answer is not of the apiVersion that the kubeconfig names, client.authentication.k8s.io/v1",
	"its answer has no status",
	"its answer's status is not an object",
	"status.token is not a text",
	"status.clientCertificateData is not a text",
	"status.clientKeyData is not a text",
	"status.expirationTimestamp is not a time (RFC 3339)",
	"status has only one of clientCertificateData and clientKeyData",
	"status has neither a token nor a certificate with its key",
	"status.token holds a blank or a character that cannot be sent",
};

static bool
is_ours(const char *err)
{
	for (size_t i = 0; i < NITEMS(words); i++) {
		if (strcmp(err, words[i]) == 0)
			return true;
	}
	/* line and column are numbers */
	const size_t len = strlen(words[0]);
	return strncmp(err, words[0], len) == 0
	    && strspn(err + len, "-0123456789, column)") == strlen(err + len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char err[256] = "";
	struct exec_answer a;

	if (!exec_answer_parse(&a, "client.authentication.k8s.io/v1", (const char *)data, size, err,
		sizeof(err))) {
		MUST(is_ours(err));
		MUST(a.token.data == NULL && a.cert.data == NULL && a.key.data == NULL);
		return 0;
	}
	MUST(err[0] == '\0');
	MUST((a.cert.data == NULL) == (a.key.data == NULL));
	MUST(a.token.data != NULL || a.cert.data != NULL);
	for (size_t i = 0; a.token.data != NULL && i < a.token.len; i++)
		MUST(a.token.data[i] > ' ' && a.token.data[i] <= '~');
	exec_answer_wipe(&a);
	return 0;
}
