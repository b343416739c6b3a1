/* proto/scan.c - the walk over a frame that trusts no declared length. Pure. */
#include "scan.h"

/* The heads from 0xc0 to 0xdf: how many bytes follow, and what the number in them counts. */
enum counts { UNKNOWN, NOTHING, BYTES, OBJECTS, PAIRS };
static const struct {
	uint8_t	width, counts;
} wide[32] = {
	[0x00] = { 0, NOTHING }, [0x02] = { 0, NOTHING }, [0x03] = { 0, NOTHING },	/* nil, false, true */
	[0x04] = { 1, BYTES },   [0x05] = { 2, BYTES },   [0x06] = { 4, BYTES },	/* bin */
	[0x0a] = { 4, NOTHING }, [0x0b] = { 8, NOTHING },				/* float */
	[0x0c] = { 1, NOTHING }, [0x0d] = { 2, NOTHING }, [0x0e] = { 4, NOTHING },	/* uint */
	[0x0f] = { 8, NOTHING }, [0x10] = { 1, NOTHING }, [0x11] = { 2, NOTHING },	/* and int */
	[0x12] = { 4, NOTHING }, [0x13] = { 8, NOTHING },
	[0x19] = { 1, BYTES },   [0x1a] = { 2, BYTES },   [0x1b] = { 4, BYTES },	/* str */
	[0x1c] = { 2, OBJECTS }, [0x1d] = { 4, OBJECTS },				/* array */
	[0x1e] = { 2, PAIRS },   [0x1f] = { 4, PAIRS },					/* map */
	/* 0xc1 is reserved; of ext types we use none. */
};

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
		const struct scan_head h = scan_head(p, len);

		if (h.skip == 0 && wide[*p - 0xc0].counts == UNKNOWN)
			return SCAN_TYPE;
		if (h.skip == 0 || h.skip > len || h.children > len - h.skip)
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

size_t
scan_object(const uint8_t *p, size_t len)
{
	uint64_t left = 1;
	size_t at = 0;

	while (left > 0 && at < len) {
		const struct scan_head h = scan_head(p + at, len - at);

		if (h.skip == 0 || h.skip > len - at || h.children > len - at - h.skip)
			return 0;
		at += h.skip;
		left += h.children - 1;
	}
	return left == 0 ? at : 0;
}

struct scan_head
scan_head(const uint8_t *p, size_t len)
{
	const uint8_t b = p[0];
	uint64_t n = 0;

	if (b <= 0x7f || b >= 0xe0)				/* small integers */
		return (struct scan_head){ .skip = 1 };
	if (b <= 0x8f)						/* fixmap */
		return (struct scan_head){ .skip = 1, .children = (b & 0x0fu) * 2u };
	if (b <= 0x9f)						/* fixarray */
		return (struct scan_head){ .skip = 1, .children = b & 0x0fu };
	if (b <= 0xbf)						/* fixstr */
		return (struct scan_head){ .skip = 1u + (b & 0x1fu) };
	const uint8_t width = wide[b - 0xc0].width, counts = wide[b - 0xc0].counts;
	if (counts == UNKNOWN || len < 1u + width)
		return (struct scan_head){ 0 };
	if (counts == NOTHING)
		return (struct scan_head){ .skip = 1u + width };
	for (uint8_t i = 0; i < width; i++)
		n = n << 8 | p[1 + i];
	if (counts == BYTES)
		return (struct scan_head){ .skip = 1u + width + n };
	return (struct scan_head){ .skip = 1u + width, .children = counts == PAIRS ? n * 2 : n };
}
