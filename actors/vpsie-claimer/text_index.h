/*
 * actors/vpsie-claimer/text_index.h - finds entries by text, in memory that the caller has. Pure.
 *
 * Several entries may have one text: text_index_find returns them in the order in which they were added.
 * Texts are compared without regard to case (ASCII): a hostname and a Node name may differ in it. The seed is
 * handed in; no result depends on it, it only keeps whoever chooses the texts from making lookups slow.
 */
#ifndef MUSTER_TEXT_INDEX_H
#define MUSTER_TEXT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "msg.h"

#define TEXT_INDEX_NONE	UINT32_MAX

struct text_entry {
	struct wire_str	text;
	uint32_t	value;
	uint32_t	next;		/* of the same bucket */
	uint32_t	hash;
};

struct text_index {
	struct text_entry	*entries;
	uint32_t		*buckets;	/* the last entry that was added to each */
	uint32_t		 count, size, mask;
	uint64_t		 seed;
};

/* Memory handed out piece by piece; aligned for every type used here. */
struct scratch {
	char	*p;
	size_t	 used;
};
void *scratch_take(struct scratch *s, size_t bytes);
size_t scratch_bytes(size_t bytes);		/* what scratch_take will use for that */

/* For at most `most` entries. */
size_t text_index_bytes(uint32_t most);
void text_index_init(struct text_index *x, struct scratch *s, uint32_t most, uint64_t seed);
/* An empty text is not added: it means that there is none. */
void text_index_add(struct text_index *x, struct wire_str text, uint32_t value);
/* The value of the first entry, or TEXT_INDEX_NONE. *at: where text_index_more goes on. */
uint32_t text_index_find(const struct text_index *x, struct wire_str text, uint32_t *at);
uint32_t text_index_more(const struct text_index *x, struct wire_str text, uint32_t *at);
/*
 * The longest start of `text` that is an entry: its length, or 0. lengths has a bit for each length (below
 * 256) that an entry has, so that no other is searched for.
 */
uint32_t text_index_prefix(const struct text_index *x, const uint64_t lengths[4], struct wire_str text);

int text_compare_folded(struct wire_str a, struct wire_str b);	/* without regard to case */

/* Sorts ids by `before`, stable; spare has room for as many. */
typedef bool id_before(const void *arg, uint32_t a, uint32_t b);
void id_sort(uint32_t *ids, uint32_t *spare, uint32_t n, id_before *before, const void *arg);

#endif
