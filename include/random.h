/*
 * include/random.h - a small seeded generator for jitter and simulation; not for secrets (use
 * random_secret).
 */
#ifndef MUSTER_RANDOM_H
#define MUSTER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64: any seed is good, one word of state, the same sequence on every machine. */
static inline uint64_t
random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Uniform enough in [0, n); n > 0. */
static inline uint64_t
random_below(uint64_t *state, uint64_t n)
{
	return random_next(state) % n;
}

/* base scaled by a random 0.8 to 1.2: keeps a fleet from acting in step. */
static inline int64_t
random_jitter(uint64_t *state, int64_t base)
{
	return base * (int64_t)(800 + random_below(state, 401)) / 1000;
}

void random_secret(void *out, size_t len);	/* from the kernel; dies if it cannot */

#endif
