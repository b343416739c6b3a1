/* tests/unit/words.h - a map of texts for a test: "a=b c=", with ascending keys. */
#ifndef MUSTER_TEST_WORDS_H
#define MUSTER_TEST_WORDS_H

#include <string.h>

#include "msg.h"

struct words {
	msgpack_sbuffer	bytes;
	struct wire_map	map;
};

static inline void
words_init(struct words *w, const char *text)
{
	*w = (struct words){ 0 };
	msgpack_sbuffer_init(&w->bytes);
	while (*text != '\0') {
		const size_t len = strcspn(text, " "), key = strcspn(text, "=");

		map_put(&w->bytes, &w->map, (struct wire_str){ text, (uint32_t)key },
		    (struct wire_str){ text + key + 1, (uint32_t)(len - key - 1) });
		text += len + strspn(text + len, " ");
	}
}

static inline void
words_free(struct words *w)
{
	msgpack_sbuffer_destroy(&w->bytes);
}

#endif
