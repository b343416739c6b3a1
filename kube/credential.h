/*
 * kube/credential.h - what to send now: server, TLS material, token. Keeps itself fresh.
 *
 *	struct credential *c = credential_open(&config, plugin, now_ms, err, sizeof(err));
 *	every second:		credential_tick(c, now_ms);
 *	plugin's fd readable:	credential_readable(c, now_ms);
 *	before each request:	switch (credential_now(c, now_ms, &view)) ...
 *	after a 401:		if (credential_unauthorized(c, now_ms)) try once more
 *	TLS refused:		if (credential_tls_refused(c, now_ms)) try once more
 *
 * Rules: what worked is kept until something better is there: a file that cannot be read, is empty
 * or holds no PEM, and a certificate that does not fit its key, change nothing but `error`. Files
 * are opened by path every time. All secrets are wiped when they are replaced and at the end.
 * Nothing here prints them.
 */
#ifndef MUSTER_CREDENTIAL_H
#define MUSTER_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec_plugin.h"
#include "kubeconfig.h"

struct credential;

enum credential_state {
	CREDENTIAL_READY,
	CREDENTIAL_WAITING,	/* for the plugin: not answered yet, or to be run again; see error */
	CREDENTIAL_LOST,	/* the plugin's helper is dead: exit 111, a new process has a new one */
};

/* Good until the next call of any function here. NULL or len 0: none. */
struct credential_view {
	const char	*server;		/* no slash at the end */
	const char	*tls_server_name;
	const char	*proxy;			/* NULL: from the environment */
	bool		 insecure, disable_compression;
	const char	*ca, *cert, *key;	/* PEM */
	size_t		 ca_len, cert_len, key_len;
	const char	*token;
	size_t		 token_len;
	const char	*basic;			/* base64 of user:password, for `Authorization: Basic` */
	uint64_t	 serial;		/* moves with every change */
	const char	*error;			/* what keeps failing though we go on; NULL: nothing */
};

/*
 * Takes *config. plugin is borrowed (NULL: no exec section) and outlives the credential. NULL with
 * a text when a file is missing or wrong at the start: that is configuration. now_ms is of the
 * monotonic clock everywhere.
 */
struct credential *credential_open(struct kubeconfig **config, struct exec_plugin *plugin, int64_t now_ms,
    char *err, size_t size);
void credential_free(struct credential **cp);

enum credential_state credential_now(struct credential *c, int64_t now_ms, struct credential_view *view);
/*
 * The server answered 401. Reads the files again at once, or runs the plugin. True: what would be sent now
 * is not what was refused, or soon will be another: worth one more try. Of a burst of 401s to one
 * old token each gets true.
 */
bool credential_unauthorized(struct credential *c, int64_t now_ms);
/*
 * No TLS with this server: its authority may have been replaced, and ours in its file with it. Reads
 * files again, but not twice within a second. True: there is something new. It does not concern a plugin.
 */
bool credential_tls_refused(struct credential *c, int64_t now_ms);
/* Does what is due. True when the view changed. Cheap when nothing is. */
bool credential_tick(struct credential *c, int64_t now_ms);
void credential_readable(struct credential *c, int64_t now_ms);
bool credential_running(const struct credential *c);	/* a run of the plugin is under way */

#endif
