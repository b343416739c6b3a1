/* proto/scan.c - the walk over a frame that trusts no declared length. Pure. */
#include "scan.h"

#include <stdbool.h>

/* What one msgpack head announces: payload bytes that follow it, and objects nested in it. */
struct item_head {
	size_t		skip;		/* head and payload */
	uint64_t	children;
	bool		known, cut;
};

static struct item_head read_head(const uint8_t *, size_t);
static struct item_head sized(const uint8_t *, size_t, size_t, bool);
static struct item_head nested(const uint8_t *, size_t, size_t, uint64_t);
static uint64_t big_endian(const uint8_t *, size_t);

static const char *const texts[SCAN_MAX] = {
#define SCAN_TEXT(ID, text) [SCAN_##ID] = (text),
	SCAN_RESULTS(SCAN_TEXT)
};

enum scan_result
scan_frame(const void *frame, size_t len, struct scan_info *info)
{
	const uint8_t *p = frame;
	uint64_t left[FRAME_MAX_DEPTH];		/* objects still to come, per open container */
	uint32_t depth = 0;

	*info = (struct scan_info){ 0 };
	if (len == 0)
		return SCAN_EMPTY;
	if (len > FRAME_MAX_BYTES)
		return SCAN_TOO_BIG;
	while (len > 0) {
		const struct item_head h = read_head(p, len);

		if (!h.known)
			return SCAN_TYPE;
		if (h.cut || h.skip > len || h.children > len - h.skip)
			return SCAN_CUT;
		if (++info->objects > FRAME_MAX_OBJECTS)
			return SCAN_MANY;
		p += h.skip;
		len -= h.skip;
		if (depth == 0)
			info->top++;
		else
			left[depth - 1]--;
		if (h.children > 0) {
			if (depth == FRAME_MAX_DEPTH)
				return SCAN_DEEP;
			left[depth++] = h.children;
			if (depth > info->depth)
				info->depth = depth;
		}
		while (depth > 0 && left[depth - 1] == 0)
			depth--;
	}
	return depth == 0 ? SCAN_OK : SCAN_CUT;
}

const char *
scan_text(enum scan_result r)
{
	return (unsigned)r < SCAN_MAX ? texts[r] : "?";
}

static struct item_head
read_head(const uint8_t *p, size_t len)
{
	const uint8_t b = p[0];

	if (b <= 0x7f || b >= 0xe0)				/* small integers */
		return (struct item_head){ .skip = 1, .known = true };
	if (b <= 0x8f)						/* fixmap */
		return (struct item_head){ .skip = 1, .children = (b & 0x0fu) * 2u, .known = true };
	if (b <= 0x9f)						/* fixarray */
		return (struct item_head){ .skip = 1, .children = b & 0x0fu, .known = true };
	if (b <= 0xbf)						/* fixstr */
		return (struct item_head){ .skip = 1u + (b & 0x1fu), .known = true };
	switch (b) {
	case 0xc0: case 0xc2: case 0xc3:			/* nil, false, true */
		return (struct item_head){ .skip = 1, .known = true };
	case 0xc4: case 0xd9: return sized(p, len, 1, true);	/* bin8, str8 */
	case 0xc5: case 0xda: return sized(p, len, 2, true);
	case 0xc6: case 0xdb: return sized(p, len, 4, true);
	case 0xca: case 0xce: case 0xd2: return sized(p, len, 4, false);	/* float32, uint32, int32 */
	case 0xcb: case 0xcf: case 0xd3: return sized(p, len, 8, false);
	case 0xcc: case 0xd0: return sized(p, len, 1, false);
	case 0xcd: case 0xd1: return sized(p, len, 2, false);
	case 0xdc: return nested(p, len, 2, 1);			/* array16 */
	case 0xdd: return nested(p, len, 4, 1);
	case 0xde: return nested(p, len, 2, 2);			/* map16: keys and values */
	case 0xdf: return nested(p, len, 4, 2);
	default:						/* 0xc1 reserved, ext: we use none */
		return (struct item_head){ .known = false };
	}
}

/* n bytes after the head: a length that counts more bytes (declared), or the value itself. */
static struct item_head
sized(const uint8_t *p, size_t len, size_t n, bool declared)
{
	if (len < 1 + n)
		return (struct item_head){ .known = true, .cut = true };
	return (struct item_head){ .skip = 1 + n + (declared ? (size_t)big_endian(p + 1, n) : 0),
		.known = true };
}

static struct item_head
nested(const uint8_t *p, size_t len, size_t n, uint64_t each)
{
	if (len < 1 + n)
		return (struct item_head){ .known = true, .cut = true };
	return (struct item_head){ .skip = 1 + n, .children = big_endian(p + 1, n) * each, .known = true };
}

static uint64_t
big_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}
