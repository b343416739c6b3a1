/*
 * bench/capa_catalogue.c - what capa-annotator holds of the instance types of each region.
 *
 *	bench-capa_catalogue REGION...
 *
 * Prints {"types", "bytes", "bytes_per_type"}: all that the catalogue has allocated, with its regions and
 * tables, by the types in it. The types are those of muster-sim, with the names of real ones.
 */
#include <stdio.h>
#include <stdlib.h>

#include "actors/capa-annotator/catalogue.h"
#include "obj.h"
#include "sim/aws/sim_aws_private.h"

static void
ignore(void *arg, struct wire_str type)
{
	(void)arg;
	(void)type;
}

static size_t
read_region(struct catalogue *c, const char *name)
{
	const struct wire_str region = wire_str_of(name);
	struct instance_type found;
	struct sim_aws_type *types;
	const size_t n = sim_aws_types(name, &types);

	MUST(n > 0 && catalogue_find(c, region, wire_str_of("m5.large"), 0, &found) == CATALOGUE_WAITING);
	catalogue_begin(c, region);
	for (size_t i = 0; i < n; i++)
		MUST(catalogue_add(c, region, wire_str_of(types[i].name), &(struct instance_type){
		    .vcpus = types[i].vcpus, .memory_mib = (uint32_t)types[i].memory_mib }));
	MUST(catalogue_page(c, region, wire_str_of("")) == CATALOGUE_LAST);
	MUST(catalogue_commit(c, region, 1, ignore, NULL));
	MUST(catalogue_find(c, region, wire_str_of("m5.large"), 1, &found) == CATALOGUE_KNOWN);
	free(types);
	return n;
}

int
main(int argc, char **argv)
{
	static const struct catalogue_times times = { CATALOGUE_TTL_MS, CATALOGUE_EARLY_MS };
	struct catalogue *c = catalogue_new(&times);
	size_t types = 0;

	for (int i = 1; i < argc; i++)
		types += read_region(c, argv[i]);
	MUST(types > 0);
	printf("{\"types\": %zu, \"bytes\": %zu, \"bytes_per_type\": %.1f}\n", types, catalogue_bytes(c),
	    (double)catalogue_bytes(c) / (double)types);
	catalogue_free(&c);
	return 0;
}
