/* sim/capi/sim_ip_ranges.h - the IPv4 addresses of a pool's spec. */
#ifndef MUSTER_SIM_IP_RANGES_H
#define MUSTER_SIM_IP_RANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_IP_TEXT = 16, SIM_IP_MOST = 65536 };

bool sim_ip_parse(const char *text, uint32_t *ip);
const char *sim_ip_print(uint32_t ip, char buf[SIM_IP_TEXT]);
/*
 * spec.addresses ("192.0.2.1", "192.0.2.10-192.0.2.20", "192.0.2.64/28") without spec.excludedAddresses and
 * spec.gateway, in their order: at most SIM_IP_MOST. The caller frees it.
 */
uint32_t *sim_ip_ranges(const json_t *spec, size_t *n);

#endif
