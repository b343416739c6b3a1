/*
 * supervisor/dropin_vip_allocator.c - capi-vip-allocator: the flags of the original.
 *
 * The original reads its certificate from a fixed folder; --tls-dir names another one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dropin_common.h"
#include "obj.h"

/* The original's: in a rolling update from one to the other, only one of them writes. */
#define LEASE	"capi-vip-allocator.gorizond.io"
#define TLS_DIR	"/tmp/runtime-extension/serving-certs"

enum { PORT_MAX = 65535 };

#define FLAGS(F)	/* ID, name, type, initial, section, key, idle, help */		\
	F(METRICS, "metrics-bind-address", TEXT, ":8080", "metrics", "metrics-bind-address", NULL,	\
	    "Where /metrics is served, over plain HTTP; 0: nowhere.")			\
	DROPIN_HEALTH(F, "health-probe-bind-address", ":8081")				\
	DROPIN_LEADER(F, LEASE)								\
	F(PORT, "default-port", TEXT, "6443", "vip-claimer", "default-port", NULL,	\
	    "Port of the endpoint of a Cluster that has none.")				\
	F(HOOK_PORT, "runtime-extension-port", TEXT, "9443", NULL, NULL, NULL,		\
	    "Port of the hooks; 0: any free one.")					\
	F(ENABLE, "enable-runtime-extension", BOOL, "true", "vip-claimer",		\
	    "enable-runtime-extension", NULL, "Serve the hooks of Cluster API.")	\
	F(NAME, "runtime-extension-name", TEXT, "vip-allocator", "vip-claimer", "extension-name", NULL,	\
	    "The hooks are NAME-before-create and NAME-generate-patches.")		\
	F(RECONCILER, "enable-reconciler", BOOL, "false", NULL, NULL,			\
	    "the reconciler always runs: it writes, the hooks wait for it", DROPIN_IDLE)	\
	F(TLS, "tls-dir", TEXT, TLS_DIR, "vip-claimer", "tls-dir", NULL,		\
	    "Folder with tls.crt and tls.key. The original does not have this one.")	\
	DROPIN_KUBECONFIG(F)								\
	DROPIN_ZAP(F)									\
	DROPIN_OWN(F)

enum flag {
	FLAGS(DROPIN_ENUM)
	FLAG_MAX
};

static const struct dropin_flag flags[FLAG_MAX] = { FLAGS(DROPIN_ROW) };

static dropin_step adapt;

const struct dropin_program dropin_vip_allocator = {
	.name = "capi-vip-allocator",
	.flags = flags, .nflags = NITEMS(flags), .print_flag = FLAG_PRINT, .adapt = adapt,
};

static enum dropin_end
adapt(struct dropin *d)
{
	static char address[16];		/* as long as the flags */
	const char *const text = dropin_text(d, FLAG_HOOK_PORT);
	char *end;
	const long port = strtol(text, &end, 10);

	if (text[0] == '\0' || *end != '\0' || port < 0 || port > PORT_MAX)
		return dropin_refuse(d, DROPIN_WRONG,
		    "invalid value \"%.100s\" for flag -runtime-extension-port: it is no number of a port",
		    text);
	snprintf(address, sizeof(address), ":%ld", port);
	dropin_set(d, "vip-claimer", "hook-bind-address", address);
	dropin_default_addresses(d, FLAG_METRICS, FLAG_HEALTH);
	dropin_set(d, "kube-watcher", "lease-name", LEASE);
	dropin_make_absolute(d, FLAG_KUBECONFIG);
	return dropin_zap(d, DROPIN_ZAP_FLAGS);
}
