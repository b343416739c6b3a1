/*
 * supervisor/dropin_common.h - the flags that several of the originals have, those that muster adds to each,
 * and the table that is made of them.
 *
 *	#define FLAGS(F)	DROPIN_LEADER(F, LEASE) F(NAME, "name", TEXT, "", ...) DROPIN_OWN(F)
 *	F(ID, name, type, initial, section, key, idle, help): rows of struct dropin_flag
 */
#ifndef MUSTER_DROPIN_COMMON_H
#define MUSTER_DROPIN_COMMON_H

#include "dropin.h"

#define DROPIN_IDLE	"Taken, without effect."
#define DROPIN_NO_LOG	"muster's log lines have one form: RFC 3339 times, no stack traces"

#define DROPIN_HEALTH(F, name, initial)							\
	F(HEALTH, name, TEXT, initial, "metrics", "health-probe-bind-address", NULL,	\
	    "Where /healthz and /readyz are served; 0: nowhere.")

#define DROPIN_LEADER(F, lease)								\
	F(LEADER, "leader-elect", BOOL, "false", "kube-watcher", "leader-elect", NULL,	\
	    "Write only while holding the Lease " lease ", as the original.")

#define DROPIN_KUBECONFIG(F)								\
	F(KUBECONFIG, "kubeconfig", TEXT, "", "kube-watcher", "kubeconfig", NULL,	\
	    "How to reach the cluster; only needed outside of it.")

/* Of controller-runtime's logger; dropin_zap gives them their effect. */
#define DROPIN_ZAP(F)									\
	F(DEVEL, "zap-devel", BOOL, "false", NULL, NULL, NULL,				\
	    "Log text for people, from debug on; the two flags below outrank it.")	\
	F(ENCODER, "zap-encoder", TEXT, "", NULL, NULL, NULL,				\
	    "Form of the log lines: json, which is the default, or console.")		\
	F(LEVEL, "zap-log-level", TEXT, "", NULL, NULL, NULL,				\
	    "How much is logged: debug, info, error, panic, or a number above 0, which is debug. "	\
	    "Without it: info.")							\
	F(STACK, "zap-stacktrace-level", TEXT, "", NULL, NULL, DROPIN_NO_LOG, DROPIN_IDLE)	\
	F(TIME, "zap-time-encoding", TEXT, "", NULL, NULL, DROPIN_NO_LOG, DROPIN_IDLE)

#define DROPIN_OWN(F)									\
	F(USER, "user", TEXT, "", "supervisor", "user", NULL,				\
	    "Run the processes as this user; root must choose one, and may choose root. The original "	\
	    "does not have this one.")							\
	F(PRINT, "print-config", BOOL, "false", NULL, NULL, NULL,			\
	    "Only print these flags as a muster.yaml. The original does not have this one.")

enum dropin_type { DROPIN_TYPE_TEXT, DROPIN_TYPE_BOOL };

#define DROPIN_ENUM(ID, ...) FLAG_##ID,
#define DROPIN_ROW(ID, n, TYPE, i, s, k, why, h)					\
	[FLAG_##ID] = { .name = (n), .boolean = DROPIN_TYPE_##TYPE == DROPIN_TYPE_BOOL, .initial = (i),	\
	    .section = (s), .key = (k), .idle = (why), .help = (h) },

/* Which flags of the table those of DROPIN_ZAP are. */
struct dropin_zap_flags {
	size_t	devel, encoder, level;
};
#define DROPIN_ZAP_FLAGS								\
	(&(const struct dropin_zap_flags){ FLAG_DEVEL, FLAG_ENCODER, FLAG_LEVEL })
enum dropin_end dropin_zap(struct dropin *d, const struct dropin_zap_flags *flags);

#endif
