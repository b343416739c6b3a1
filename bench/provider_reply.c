/*
 * bench/provider_reply.c - what it costs to read a provider's list of instances with actors/provider/reply.
 *
 *	bench-provider_reply INSTANCES ROUNDS
 *
 * The list has the form of Linode's GET /linode/instances. reply: limits checked, parsed, the fields that a
 * claimer reads taken out of each instance, freed. jansson: the same text parsed and freed, nothing checked
 * and nothing read. Prints {"bytes", "reply_ms", "jansson_ms"}: milliseconds of CPU, a list with one number
 * for each round.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/provider/reply.h"
#include "ends.h"
#include "obj.h"

/* One instance with everything that the API shows of it; the number is its id, name and address. */
static const char instance[] =
    "{\"id\":555%04u,\"label\":\"lke70001-90001-0147dc25%04x\",\"group\":\"\",\"status\":\"running\","
    "\"created\":\"2026-05-01T10:00:05\",\"updated\":\"2026-05-01T10:00:05\",\"type\":\"g6-standard-2\","
    "\"ipv4\":[\"203.0.113.%u\",\"192.168.140.%u\"],\"ipv6\":\"2001:db8::%x/128\",\"image\":null,"
    "\"region\":\"us-ord\",\"site_type\":\"core\",\"specs\":{\"disk\":81920,\"memory\":4096,\"vcpus\":2,"
    "\"gpus\":0,\"transfer\":4000,\"accelerated_devices\":0},\"alerts\":{\"cpu\":90,\"network_in\":10,"
    "\"network_out\":10,\"transfer_quota\":80,\"io\":10000},\"backups\":{\"enabled\":false,"
    "\"available\":false,\"schedule\":{\"day\":null,\"window\":null},\"last_successful\":null},"
    "\"hypervisor\":\"kvm\",\"watchdog_enabled\":true,\"tags\":[\"karpenter.sh/nodepool:default\","
    "\"karpenter.sh/nodeclaim:default-%05u\",\"team-a\"],\"host_uuid\":\"ab12%08x\","
    "\"has_user_data\":false,\"placement_group\":null,\"disk_encryption\":\"enabled\","
    "\"lke_cluster_id\":70001,\"capabilities\":[\"Block Storage Encryption\"],"
    "\"interface_generation\":\"legacy_config\",\"maintenance_policy\":\"linode/power_off_on\"}";

struct instance {
	int64_t		 id, cluster, created_us;
	const char	*label, *status, *type, *region;
	size_t		 tag_bytes, address_bytes;
};

static char *make_list(uint32_t, size_t *);
static double read_reply(const char *, size_t, uint32_t);
static void read_instance(const struct reply_at *, struct instance *);
static size_t text_bytes(const struct reply_at *, const char *);
static double read_jansson(const char *, size_t);
static void print_list(const char *, const double *, uint32_t);
static double cpu_ms(void);

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: bench-provider_reply INSTANCES ROUNDS\n");
		return 2;
	}
	const uint32_t instances = bench_number("INSTANCES", argv[1]);
	const uint32_t rounds = bench_number("ROUNDS", argv[2]);
	double *const ours = obj_alloc(rounds * sizeof(*ours));
	double *const bare = obj_alloc(rounds * sizeof(*bare));
	size_t len;
	char *const text = make_list(instances, &len);

	/* The heap is of its final size before the first round. */
	read_jansson(text, len);
	for (uint32_t i = 0; i < rounds; i++) {
		if (i % 2 == 0)
			ours[i] = read_reply(text, len, instances);
		bare[i] = read_jansson(text, len);
		if (i % 2 == 1)
			ours[i] = read_reply(text, len, instances);
	}
	printf("{\"bytes\": %zu", len);
	print_list("reply_ms", ours, rounds);
	print_list("jansson_ms", bare, rounds);
	printf("}\n");
	free(text);
	free(ours);
	free(bare);
	return 0;
}

static char *
make_list(uint32_t instances, size_t *len)
{
	char *text = NULL;
	FILE *const f = open_memstream(&text, len);

	MUST(f != NULL);
	fprintf(f, "{\"data\":[");
	for (uint32_t i = 0; i < instances; i++) {
		fprintf(f, "%s", i > 0 ? "," : "");
		fprintf(f, instance, i, i, i % 250, i % 250, i, i, i);
	}
	fprintf(f, "],\"page\":1,\"pages\":1,\"results\":%" PRIu32 "}", instances);
	MUST(fclose(f) == 0);
	return text;
}

static double
read_reply(const char *text, size_t len, uint32_t instances)
{
	const double from_ms = cpu_ms();
	struct reply_at data, element;
	struct instance in;
	struct reply r;
	uint32_t seen = 0;

	MUST(reply_parse(&r, text, len));
	const struct reply_at root = reply_root(&r);
	reply_list(&root, "data", REPLY_REQUIRED, &data);
	for (size_t i = 0; reply_element(&data, i, &element); i++) {
		read_instance(&element, &in);
		MUST(in.cluster == 70001 && in.tag_bytes > 0 && in.address_bytes > 0);
		seen++;
	}
	MUST(reply_ok(&r) && seen == instances);
	reply_free(&r, false);
	return cpu_ms() - from_ms;
}

static void
read_instance(const struct reply_at *at, struct instance *in)
{
	*in = (struct instance){ 0 };
	reply_i64(at, "id", REPLY_REQUIRED, &in->id);
	reply_i64(at, "lke_cluster_id", REPLY_OPTIONAL, &in->cluster);
	reply_text(at, "label", REPLY_REQUIRED, &in->label);
	reply_text(at, "status", REPLY_REQUIRED, &in->status);
	reply_text(at, "type", REPLY_REQUIRED, &in->type);
	reply_text(at, "region", REPLY_REQUIRED, &in->region);
	reply_time(at, "created", REPLY_REQUIRED, &in->created_us);
	in->tag_bytes = text_bytes(at, "tags");
	in->address_bytes = text_bytes(at, "ipv4");
}

static size_t
text_bytes(const struct reply_at *at, const char *member)
{
	struct reply_at list;
	const char *text;
	size_t bytes = 0;

	reply_list(at, member, REPLY_REQUIRED, &list);
	for (size_t i = 0; reply_text_element(&list, i, &text); i++)
		bytes += strlen(text);
	return bytes;
}

static double
read_jansson(const char *text, size_t len)
{
	const double from_ms = cpu_ms();
	json_t *const root = json_loadb(text, len, 0, NULL);

	MUST(root != NULL);
	json_decref(root);
	return cpu_ms() - from_ms;
}

static void
print_list(const char *name, const double *values, uint32_t n)
{
	printf(", \"%s\": [", name);
	for (uint32_t i = 0; i < n; i++)
		printf("%s%.4f", i > 0 ? ", " : "", values[i]);
	printf("]");
}

static double
cpu_ms(void)
{
	struct timespec ts;

	MUST(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) == 0);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}
