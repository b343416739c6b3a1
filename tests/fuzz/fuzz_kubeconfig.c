/*
 * tests/fuzz/fuzz_kubeconfig.c - any bytes as a kubeconfig.
 *
 * Rule: the file is refused with one line that begins with the file's name; or it is accepted, and then
 * it is free of contradictions, so later code does not check for them again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kube/exec_plugin_answer.h"
#include "kube/kubeconfig.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* It goes to a terminal or a log as it is. */
static void
check_refusal(const char *err, const char *name)
{
	const size_t len = strlen(err);

	MUST(strncmp(err, name, strlen(name)) == 0 && err[strlen(name)] == ':');
	for (size_t i = 0; i < len; i++)
		MUST((unsigned char)err[i] >= ' ' && err[i] != 0x7f);
}

static void
check_accepted(const struct kubeconfig *k)
{
	const bool https = strncmp(k->server, "https://", 8) == 0;
	const bool cert = k->cert_data.data != NULL || k->cert_file != NULL;
	const bool key = k->key_data.data != NULL || k->key_file != NULL;
	const bool token = k->token.data != NULL || k->token_file != NULL;

	MUST(https || strncmp(k->server, "http://", 7) == 0);
	MUST(k->server[strlen(k->server) - 1] != '/');
	MUST(cert == key);
	MUST(!(token && k->username != NULL) && !(k->password != NULL && k->username == NULL));
	MUST(!(k->insecure && (k->ca_data.data != NULL || k->ca_file != NULL)));
	MUST(https || !(cert || token || k->username != NULL || k->exec != NULL));
	MUST(!(k->ca_data.data != NULL && k->ca_file != NULL));
	for (size_t i = 0; k->token.data != NULL && i < k->token.len; i++)
		MUST(k->token.data[i] > ' ' && k->token.data[i] <= '~');
	const char *const files[] = { k->ca_file, k->cert_file, k->key_file, k->token_file };
	for (size_t i = 0; i < NITEMS(files); i++)
		MUST(files[i] == NULL || files[i][0] == '/');
	if (k->exec == NULL)
		return;
	MUST(!token && k->username == NULL && k->exec->command != NULL && k->exec->args != NULL);
	if (k->ca_file == NULL) {	/* which would be read */
		char *const info = exec_info(k);
		json_t *const back = json_loads(info, 0, NULL);

		MUST(back != NULL);
		json_decref(back);
		free(info);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = "/folder/fuzz";
	char err[KUBECONFIG_ERROR_MAX] = "";
	struct kubeconfig *k = kubeconfig_parse(name, (const char *)data, size, NULL, err, sizeof(err));

	if (k == NULL)
		check_refusal(err, name);
	else
		check_accepted(k);
	kubeconfig_free(&k);
	return 0;
}
