/*
 * tests/dst/worlds.c - every world that `dst` runs. A new one needs a line here and a file or two
 * beside it.
 */
#include <stddef.h>

#include "dst.h"
#include "world_annotator.h"
#include "world_claims.h"
#include "world_insight.h"
#include "world_kube.h"
#include "world_lke.h"
#include "world_nodes.h"
#include "world_session.h"
#include "world_vip.h"
#include "world_vpsie.h"

const struct world *const worlds[] = {
	&session_world,
	&kube_world,
	&nodes_world,
	&insight_world,
	&claims_world, &claims_sweep_world,
	&lke_world, &lke_sweep_world,
	&annotator_world, &annotator_sweep_world,
	&vpsie_world, &vpsie_sweep_world,
	&vip_world, &vip_sweep_world,
	NULL,
};
