/* sim/capi/sim_ip_ranges.c - the IPv4 addresses of a pool's spec. */
#include "sim_ip_ranges.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"

struct range {
	uint32_t	first, last;
};

static bool read_range(const char *, struct range *);
static bool excluded(const json_t *, uint32_t);

bool
sim_ip_parse(const char *text, uint32_t *ip)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1)
		return false;
	*ip = ntohl(a.s_addr);
	return true;
}

const char *
sim_ip_print(uint32_t ip, char buf[SIM_IP_TEXT])
{
	const struct in_addr a = { .s_addr = htonl(ip) };

	return inet_ntop(AF_INET, &a, buf, SIM_IP_TEXT);
}

uint32_t *
sim_ip_ranges(const json_t *spec, size_t *n)
{
	const json_t *const rows = json_object_get(spec, "addresses");
	uint32_t *const all = obj_alloc(SIM_IP_MOST * sizeof(*all));
	struct range r;
	size_t i;
	json_t *row;

	*n = 0;
	json_array_foreach(rows, i, row) {
		if (!json_is_string(row) || !read_range(json_string_value(row), &r))
			continue;
		for (uint64_t ip = r.first; ip <= r.last && *n < SIM_IP_MOST; ip++) {
			if (!excluded(spec, (uint32_t)ip))
				all[(*n)++] = (uint32_t)ip;
		}
	}
	return all;
}

static bool
read_range(const char *text, struct range *out)
{
	char copy[64];

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return false;
	char *const dash = strchr(copy, '-'), *const slash = strchr(copy, '/');
	if (dash != NULL)
		*dash = '\0';
	if (slash != NULL)
		*slash = '\0';
	if (!sim_ip_parse(copy, &out->first))
		return false;
	out->last = out->first;
	if (dash != NULL)
		return sim_ip_parse(dash + 1, &out->last) && out->first <= out->last;
	if (slash == NULL)
		return true;
	const long bits = strtol(slash + 1, NULL, 10);
	if (bits < 16 || bits > 32)
		return false;
	const uint32_t size = bits == 32 ? 0 : (UINT32_MAX >> bits);
	out->first &= ~size;
	out->last = out->first | size;
	/* Network and broadcast address are given to nobody. */
	out->first += bits < 31;
	out->last -= bits < 31;
	return true;
}

static bool
excluded(const json_t *spec, uint32_t ip)
{
	const json_t *const rows = json_object_get(spec, "excludedAddresses");
	struct range r;
	uint32_t gateway;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		if (json_is_string(row) && read_range(json_string_value(row), &r) && ip >= r.first
		    && ip <= r.last)
			return true;
	}
	return sim_ip_parse(sim_json_text(spec, "gateway"), &gateway) && gateway == ip;
}
