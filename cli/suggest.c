/*
 * cli/suggest.c - distance of words: letters added, missing, changed, or swapped with their
 * neighbour. Pure.
 */
#include "suggest.h"

#include <string.h>

enum { WORD_MAX = 32 };

static size_t distance(const char *, const char *);
static size_t min2(size_t, size_t);

const char *
suggest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t best_distance = (strlen(word) + 1) / 3;	/* beyond that it is another word */

	for (size_t i = 0; i < n; i++) {
		const size_t d = distance(word, names[i]);

		if (d < best_distance || (best == NULL && d == best_distance)) {
			best = names[i];
			best_distance = d;
		}
	}
	return best;
}

/* Damerau's distance, of what fits; longer words are far from everything. */
static size_t
distance(const char *a, const char *b)
{
	const size_t la = strlen(a), lb = strlen(b);
	size_t d[WORD_MAX + 1][WORD_MAX + 1];

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			const size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			d[i][j] = min2(change, min2(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

static size_t
min2(size_t a, size_t b)
{
	return a < b ? a : b;
}
