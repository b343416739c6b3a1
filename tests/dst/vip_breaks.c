/* tests/dst/vip_breaks.c - redirected calls between files of vip-claimer: the real ones unless broken. */
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"
#include "vip-claimer/claimer.h"
#include "world_vip.h"

void __real_vip_view(const struct vip_input *s, struct vip_view *v);
void __wrap_vip_view(const struct vip_input *s, struct vip_view *v);
void __real_vip_patch_plan(const struct vip_input *s, struct vip_patch_plan *out);
void __wrap_vip_patch_plan(const struct vip_input *s, struct vip_patch_plan *out);
size_t __real_vip_body_claim(char *buf, size_t size, const char *api, const char *cluster_api,
    const struct vip_input *s, const struct vip_view *v);
size_t __wrap_vip_body_claim(char *buf, size_t size, const char *api, const char *cluster_api,
    const struct vip_input *s, const struct vip_view *v);
void __real_cluster_view_keys(struct reconciler *r, const struct change *c);
void __wrap_cluster_view_keys(struct reconciler *r, const struct change *c);
void __real_cluster_view_hook(struct cluster_view *v, struct claimer *c, const struct vip_cluster *request);
void __wrap_cluster_view_hook(struct cluster_view *v, struct claimer *c, const struct vip_cluster *request);
void __real_cluster_view_patches(struct cluster_view *v, struct claimer *c, struct wire_str uid);
void __wrap_cluster_view_patches(struct cluster_view *v, struct claimer *c, struct wire_str uid);

void
__wrap_vip_view(const struct vip_input *s, struct vip_view *v)
{
	__real_vip_view(s, v);
	if (runtime_breaks.any_claim && (v->facts & VIP_CLAIM) != 0)
		v->facts |= VIP_CLAIM_OWNED;
	if (runtime_breaks.overwrite)
		v->facts &= ~(unsigned)VIP_SET;
}

void
__wrap_vip_patch_plan(const struct vip_input *s, struct vip_patch_plan *out)
{
	__real_vip_patch_plan(s, out);
	if (runtime_breaks.no_patch && out->result == VIP_PATCHES_FAIL)
		out->result = VIP_PATCHES_NONE;
}

/* The server has no such member, and drops it. */
size_t
__wrap_vip_body_claim(char *buf, size_t size, const char *api, const char *cluster_api,
    const struct vip_input *s, const struct vip_view *v)
{
	const size_t len = __real_vip_body_claim(buf, size, api, cluster_api, s, v);
	char *const owners = runtime_breaks.no_owner ? strstr(buf, "\"ownerReferences\"") : NULL;

	if (owners != NULL)
		owners[1] = 'O';
	return len;
}

/* The claim and its address have to be noticed for the Cluster to go on. */
void
__wrap_cluster_view_keys(struct reconciler *r, const struct change *c)
{
	if (!runtime_breaks.unwatched_claims || (c->type != MSG_IP_CLAIM && c->type != MSG_IP_ADDRESS))
		__real_cluster_view_keys(r, c);
}

void
__wrap_cluster_view_hook(struct cluster_view *v, struct claimer *c, const struct vip_cluster *request)
{
	__real_cluster_view_hook(v, c, request);
	v->in.synced |= runtime_breaks.pass_unread;
}

void
__wrap_cluster_view_patches(struct cluster_view *v, struct claimer *c, struct wire_str uid)
{
	if (runtime_breaks.other_life)
		uid.len = 0;
	__real_cluster_view_patches(v, c, uid);
}
