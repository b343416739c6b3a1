/* config/nearest.c - distance of words. Pure. */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

const char *
nearest_word(const char *word, size_t len, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t least = 1 + len / 4;	/* beyond that it is another word */

	for (size_t i = 0; i < n; i++) {
		const size_t d = nearest_distance(word, len, names[i], strlen(names[i]));

		if (d <= least && (best == NULL || d < least)) {
			best = names[i];
			least = d;
		}
	}
	return best;
}

/* Optimal string alignment over three rows of the matrix. */
size_t
nearest_distance(const char *a, size_t alen, const char *b, size_t blen)
{
	enum { WORD_MAX = 64 };
	size_t rows[3][WORD_MAX + 1];

	if (alen > WORD_MAX || blen > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= blen; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= alen; i++) {
		size_t *now = rows[i % 3];
		const size_t *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
			    && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[alen % 3][blen];
}
