/*
 * kube/exec_plugin.h - runs a credential plugin without ever blocking or forking the actor.
 *
 * A helper process is forked once, early, while the process has one thread and no ZeroMQ context.
 * It holds nothing but one end of a socketpair; on request it runs the plugin (fork, execve, no
 * shell, stdin /dev/null, own process group, 60 s, 1 MiB of stdout, only the last line of stderr
 * kept) and sends the outcome back. It dies with its parent (PDEATHSIG, and end of file), and takes
 * a running plugin with it.
 *
 * The helper inherits the actor's confinement. So the actor must be allowed to execute the plugin
 * and its interpreter, and to read what the plugin reads (for `aws`: /usr, ~/.aws; for `gke-gcloud-
 * auth-plugin`: ~/.config/gcloud, which it also writes). Its environment is the actor's plus
 * exec.env of the kubeconfig: HOME and the like must be set there.
 */
#ifndef MUSTER_EXEC_PLUGIN_H
#define MUSTER_EXEC_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kubeconfig.h"

enum {
	EXEC_PLUGIN_TIMEOUT_MS = 60 * 1000,
	EXEC_PLUGIN_OUTPUT_MAX = 1024 * 1024,
	EXEC_PLUGIN_ERROR_MAX  = 512,
};

struct exec_plugin;

/*
 * NULL when k has no exec section, or with a text in err. Never after the ZeroMQ context, libcurl
 * or any thread exists. timeout_ms 0: EXEC_PLUGIN_TIMEOUT_MS.
 */
struct exec_plugin *exec_plugin_start(const struct kubeconfig *k, int64_t timeout_ms, char *err, size_t size);
void exec_plugin_free(struct exec_plugin **pp);		/* ends helper and plugin */

/* Readable: call exec_plugin_read. Belongs to the plugin. */
int exec_plugin_fd(const struct exec_plugin *p);
/* Requests one run. False: one is under way, or the helper is dead. */
bool exec_plugin_request(struct exec_plugin *p);

enum exec_plugin_event {
	EXEC_PLUGIN_NOTHING,	/* not all of it is there yet */
	EXEC_PLUGIN_ANSWER,	/* *out is what the plugin printed; the caller's to wipe */
	EXEC_PLUGIN_FAILED,	/* err has the reason, the plugin's last line of stderr, the install hint */
	EXEC_PLUGIN_DEAD,	/* the helper is gone for good: the actor must be restarted (exit 111) */
};
enum exec_plugin_event exec_plugin_read(struct exec_plugin *p, struct bytes *out, char *err, size_t size);

#endif
