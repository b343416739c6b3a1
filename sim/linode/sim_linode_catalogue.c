/* sim/linode/sim_linode_catalogue.c - types, regions, and which plans a region has. */
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_linode_private.h"

enum { ARG_ID = 1 };

/* Figures as the public price list had them; network_out in Mbit/s. */
static const struct {
	const char	*id, *label, *class;
	int		 memory, disk, vcpus, gpus, transfer, network_out;
	double		 hourly, monthly;
} types[] = {
	{ "g6-nanode-1",     "Nanode 1GB",      "nanode",    1024,   25600,  1, 0, 1000, 1000,  0.0075, 5.0 },
	{ "g6-standard-1",   "Linode 2GB",      "standard",  2048,   51200,  1, 0, 2000, 2000,  0.018,  12.0 },
	{ "g6-standard-2",   "Linode 4GB",      "standard",  4096,   81920,  2, 0, 4000, 4000,  0.036,  24.0 },
	{ "g6-standard-4",   "Linode 8GB",      "standard",  8192,   163840, 4, 0, 5000, 5000,  0.072,  48.0 },
	{ "g6-standard-6",   "Linode 16GB",     "standard",  16384,  327680, 6, 0, 8000, 6000,  0.144,  96.0 },
	{ "g6-dedicated-2",  "Dedicated 4GB",   "dedicated", 4096,   81920,  2, 0, 4000, 4000,  0.054,  36.0 },
	{ "g6-dedicated-4",  "Dedicated 8GB",   "dedicated", 8192,   163840, 4, 0, 5000, 5000,  0.108,  72.0 },
	{ "g6-dedicated-8",  "Dedicated 16GB",  "dedicated", 16384,  327680, 8, 0, 6000, 6000,  0.216,  144.0 },
	{ "g7-highmem-1",    "Linode 24GB",     "highmem",   24576,  20480,  2, 0, 5000, 5000,  0.09,   60.0 },
	{ "g7-premium-2",    "Premium 4GB",     "premium",   4096,   81920,  2, 0, 4000, 4000,  0.0645, 43.0 },
	{ "g1-gpu-rtx6000-1", "Dedicated 32GB + RTX6000 GPU x1", "gpu", 32768, 655360, 8, 1, 16000, 10000, 1.5, 1000.0 },
};

static const struct {
	const char	*id, *label, *country;
	double		 price;		/* times that of the others */
	bool		 enterprise;
} regions[] = {
	{ "us-ord", "Chicago, IL", "us", 1.0, true },
	{ "us-east", "Newark, NJ", "us", 1.0, false },
	{ "id-cgk", "Jakarta, ID", "id", 1.2, true },
};

/* Only some families are listed; a plan that is not there is available. */
static const struct {
	const char	*region, *plan;
	bool		 available;
} plans[] = {
	{ "us-ord", "g7-premium-2", true }, { "us-ord", "g1-gpu-rtx6000-1", false },
	{ "us-east", "g7-premium-2", false }, { "us-east", "g1-gpu-rtx6000-1", true },
	{ "id-cgk", "g7-premium-2", true }, { "id-cgk", "g1-gpu-rtx6000-1", false },
};

static json_t *kept(json_t **, json_t *(*)(size_t), size_t);
static json_t *type_json(size_t);
static json_t *region_json(size_t);
static json_t *plan_json(size_t);
static struct sim_provider_answer one_of(const json_t *, const char *);

const json_t *
linode_types(void)
{
	static json_t *list;

	return kept(&list, type_json, NITEMS(types));
}

const json_t *
linode_regions(void)
{
	static json_t *list;

	return kept(&list, region_json, NITEMS(regions));
}

const json_t *
linode_availability(void)
{
	static json_t *list;

	return kept(&list, plan_json, NITEMS(plans));
}

const json_t *
linode_find_type(const char *id)
{
	return sim_json_find(linode_types(), "id", id);
}

struct sim_provider_answer
linode_list_types(void *model, const struct sim_provider_call *c)
{
	static const char *const fields[] = { "id", "label", "class", "memory", "disk", "vcpus", "gpus",
		NULL };

	return linode_list(model, c, json_incref((json_t *)(uintptr_t)linode_types()), fields);
}

struct sim_provider_answer
linode_get_type(void *model, const struct sim_provider_call *c)
{
	(void)model;
	return one_of(linode_types(), c->args.of[ARG_ID]);
}

struct sim_provider_answer
linode_list_regions(void *model, const struct sim_provider_call *c)
{
	static const char *const fields[] = { "id", "label", "country", NULL };

	return linode_list(model, c, json_incref((json_t *)(uintptr_t)linode_regions()), fields);
}

struct sim_provider_answer
linode_get_region(void *model, const struct sim_provider_call *c)
{
	(void)model;
	return one_of(linode_regions(), c->args.of[ARG_ID]);
}

struct sim_provider_answer
linode_list_availability(void *model, const struct sim_provider_call *c)
{
	static const char *const fields[] = { "region", "plan", "available", NULL };

	return linode_list(model, c, json_incref((json_t *)(uintptr_t)linode_availability()), fields);
}

/* Not in pages: a bare array. */
struct sim_provider_answer
linode_get_availability(void *model, const struct sim_provider_call *c)
{
	json_t *const list = json_array(), *one;
	size_t i;

	(void)model;
	if (sim_json_find(linode_regions(), "id", c->args.of[ARG_ID]) == NULL) {
		json_decref(list);
		return linode_fail(404, NULL, "Not found");
	}
	json_array_foreach(linode_availability(), i, one) {
		if (strcmp(sim_json_text(one, "region"), c->args.of[ARG_ID]) == 0)
			json_array_append(list, one);
	}
	return linode_ok(list, NULL);
}

static struct sim_provider_answer
one_of(const json_t *list, const char *id)
{
	json_t *const found = sim_json_find(list, "id", id);

	return found != NULL ? linode_ok(json_incref(found), NULL) : linode_fail(404, NULL, "Not found");
}

static json_t *
kept(json_t **list, json_t *(*make)(size_t), size_t n)
{
	if (*list == NULL) {
		*list = json_array();
		for (size_t i = 0; i < n; i++)
			json_array_append_new(*list, make(i));
	}
	return *list;
}

static json_t *
type_json(size_t i)
{
	json_t *const dear = json_array();

	for (size_t k = 0; k < NITEMS(regions); k++) {
		const double times = regions[k].price;

		if (times > 1.0)
			json_array_append_new(dear, json_pack("{s:s, s:f, s:f}", "id", regions[k].id,
			    "hourly", types[i].hourly * times, "monthly", types[i].monthly * times));
	}
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:n, s:{s:f, s:f}, s:o, "
	    "s:{s:{s:{s:f, s:f}, s:[]}}}", "id", types[i].id, "label", types[i].label, "class",
	    types[i].class, "memory", types[i].memory, "disk", types[i].disk, "vcpus", types[i].vcpus, "gpus",
	    types[i].gpus, "transfer", types[i].transfer, "network_out", types[i].network_out,
	    "accelerated_devices", 0, "successor", "price", "hourly", types[i].hourly, "monthly",
	    types[i].monthly, "region_prices", dear, "addons", "backups", "price", "hourly", 0.008, "monthly",
	    5.0, "region_prices");
}

static json_t *
region_json(size_t i)
{
	json_t *const capabilities = json_pack("[s, s]", "Linodes", "Kubernetes");

	if (regions[i].enterprise)
		json_array_append_new(capabilities, json_string("Kubernetes Enterprise"));
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:{s:s, s:s}, s:{s:n, s:i}, s:s}", "id", regions[i].id,
	    "label", regions[i].label, "country", regions[i].country, "capabilities", capabilities, "status",
	    "ok", "resolvers", "ipv4", "192.0.2.1,192.0.2.2", "ipv6", "2001:db8::1,2001:db8::2",
	    "placement_group_limits", "maximum_pgs_per_customer", "maximum_linodes_per_pg", 5, "site_type",
	    "core");
}

static json_t *
plan_json(size_t i)
{
	return json_pack("{s:s, s:s, s:b}", "region", plans[i].region, "plan", plans[i].plan, "available",
	    plans[i].available);
}
