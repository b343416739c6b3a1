/* sim/http/sim_kubeconfig.c - writes a kubeconfig: the address, the certificate to trust, a token. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj.h"
#include "sim_auth.h"

static void print_trust(FILE *, const struct sim_options *);

bool
sim_kubeconfig_write(const struct sim_options *o, const struct sim_auth *a, const char *url,
    char *err, size_t size)
{
	char temporary[4096];
	const char *const token = sim_auth_first_token(a);

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", o->write_kubeconfig)
	    >= sizeof(temporary)) {
		snprintf(err, size, "--write-kubeconfig: the path is too long");
		return false;
	}
	/* mkstemp makes it readable by its owner alone, as a file with a token must be. */
	const int fd = mkstemp(temporary);
	FILE *const f = fd != -1 ? fdopen(fd, "w") : NULL;
	if (f == NULL) {
		snprintf(err, size, "%s: %s", temporary, strerror(errno));
		return false;
	}
	fprintf(f,
	    "apiVersion: v1\nkind: Config\nclusters:\n- name: muster-sim\n  cluster:\n    server: %s\n",
	    url);
	print_trust(f, o);
	fprintf(f, "users:\n- name: muster-sim\n  user: {%s%s%s}\n", token != NULL ? "token: \"" : "",
	    token != NULL ? token : "", token != NULL ? "\"" : "");
	fprintf(f, "contexts:\n- name: muster-sim\n  context: {cluster: muster-sim, user: muster-sim}\n"
	    "current-context: muster-sim\n");
	const bool written = ferror(f) == 0;
	if ((fclose(f) != 0) | !written || rename(temporary, o->write_kubeconfig) == -1) {
		snprintf(err, size, "%s: %s", o->write_kubeconfig, strerror(errno));
		unlink(temporary);
		return false;
	}
	return true;
}

/*
 * The server's own certificate: enough for a self-signed one. An absolute path, for a kubeconfig
 * elsewhere.
 */
static void
print_trust(FILE *f, const struct sim_options *o)
{
	char *const path = o->tls_cert != NULL ? realpath(o->tls_cert, NULL) : NULL;

	if (path != NULL)
		fprintf(f, "    certificate-authority: %s\n", path);
	free(path);
}
