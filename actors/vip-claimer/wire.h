/*
 * actors/vip-claimer/wire.h - hook requests of Cluster API and their answers (V1, V7, V9, V13). Pure.
 *
 *	wire.c		reads a request: bytes of an unknown sender, with limits; no tree of them is built
 *	answer.c	writes the answers
 *
 * A request is accepted whole, or refused with the field that is wrong. Unknown members are skipped. The
 * embedded Cluster is v1beta1 up to Cluster API 1.12 and v1beta2 from 1.13, perhaps without apiVersion and
 * kind: the form of its topology decides.
 */
#ifndef MUSTER_VIP_WIRE_H
#define MUSTER_VIP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vip.h"

#define VIP_HOOKS_API	"hooks.runtime.cluster.x-k8s.io/v1alpha1"

enum {
	VIP_REQUEST_MAX	= 20 * 1024 * 1024,	/* bytes */
	VIP_ERROR_SIZE	= 256,
	VIP_ITEMS_MAX	= 8,			/* infrastructure cluster templates; there is one */
	VIP_UID_MAX	= 128,
	VIP_ANSWER_MAX	= 64 * 1024,
	VIP_HOOK_TIMEOUT_S = 10,	/* more than 30 makes Cluster API refuse the whole extension */
};

/* ID, name, part of the path, end of the handler's name */
#define VIP_HOOKS(H)									\
	H(DISCOVERY, "Discovery",           "discovery",           "")			\
	H(CREATE,    "BeforeClusterCreate", "beforeclustercreate", "-before-create")	\
	H(PATCHES,   "GeneratePatches",     "generatepatches",     "-generate-patches")

enum vip_hook {
#define VIP_HOOK_ENUM(ID, name, part, suffix) VIP_HOOK_##ID,
	VIP_HOOKS(VIP_HOOK_ENUM)
#undef VIP_HOOK_ENUM
	VIP_HOOK_MAX
};

/* VIP_HOOK_MAX: there is no such path (404). extension: the setting extension-name. */
enum vip_hook vip_wire_route(const char *path, const char *extension);
const char *vip_hook_name(enum vip_hook h);
const char *vip_hook_suffix(enum vip_hook h);

struct vip_template {
	struct wire_str	uid;
	unsigned	depth;	/* how much of spec.template.spec its object has: 0 to 3 */
};

/* Views into the body. */
struct vip_request {
	struct vip_cluster	cluster;	/* PATCHES: namespace, name, and a uid from newer ones */
	struct vip_template	templates[VIP_ITEMS_MAX];
	unsigned		ntemplates;
	char			err[VIP_ERROR_SIZE];	/* when it is refused: 400 */
};

bool vip_request_read(enum vip_hook h, const char *body, size_t len, struct vip_request *out);

/* Each returns its length. */
size_t vip_answer_discovery(char buf[VIP_ANSWER_MAX], const char *extension);
size_t vip_answer_gate(char buf[VIP_ANSWER_MAX], const struct vip_gate *g);
size_t vip_answer_patches(
    char buf[VIP_ANSWER_MAX], const struct vip_patch_plan *p, const struct vip_request *r);

#endif
