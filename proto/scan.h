/*
 * proto/scan.h - checks a frame before any library reads it. Pure.
 *
 * The trap: msgpack-c allocates by declared lengths; five bytes (dd ff 00 00 00) make it reserve
 * gigabytes. So every frame is walked here first: declared lengths against the bytes that are left,
 * depth, number of objects, size.
 */
#ifndef MUSTER_SCAN_H
#define MUSTER_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_MAX_BYTES	  = 1024 * 1024,	/* also ZMQ_MAXMSGSIZE */
	FRAME_MAX_VALUE	  = 900 * 1024,		/* of one item; its key and the envelope need room, too */
	FRAME_MAX_DEPTH	  = 16,
	FRAME_MAX_OBJECTS = 65536,
};

#define SCAN_RESULTS(R)							\
	R(OK,       "well-formed")					\
	R(EMPTY,    "empty frame")					\
	R(TOO_BIG,  "frame larger than 1 MiB")				\
	R(CUT,      "declares more bytes than it has")			\
	R(DEEP,     "nested deeper than 16")				\
	R(MANY,     "more than 65536 objects")				\
	R(TYPE,     "extension or reserved type")

enum scan_result {
#define SCAN_ENUM(ID, text) SCAN_##ID,
	SCAN_RESULTS(SCAN_ENUM)
#undef SCAN_ENUM
	SCAN_MAX
};

struct scan_info {
	uint32_t	objects;	/* all of them */
	uint32_t	top;		/* at the top level */
	uint32_t	depth;
};

/* What one msgpack head announces. */
struct scan_head {
	size_t		skip;		/* head and payload; 0: an unknown head, or one that is cut off */
	uint64_t	children;	/* objects nested in it, which follow */
};
struct scan_head scan_head(const uint8_t *p, size_t len);
/* The bytes of the object at p with all that is nested in it; 0: it is malformed, or cut off. */
size_t scan_object(const uint8_t *p, size_t len);

enum scan_result scan_frame(const void *frame, size_t len, struct scan_info *info);
const char *scan_text(enum scan_result r);

#endif
