/*
 * tests/fuzz/fuzz_frame.c - hostile bytes for the input of every process: scan, envelope, every
 * codec, the printer.
 *
 * First byte 0: the rest is a frame. First byte 1 + m: the rest is a value of message m. What is
 * accepted must come out the same after another trip, be what msgpack-c reads in it, print and be redacted;
 * no allocation may follow a length that is only declared. Seeds: `test_msg
 * --write-corpus tests/fuzz/corpus/fuzz_frame`, and a few wrong lengths written by hand.
 */
#include <sanitizer/allocator_interface.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "envelope.h"
#include "obj.h"

/* 65536 objects of 24 bytes in msgpack's zone, which doubles its chunks. */
enum { ALLOCATION_MAX = 4 * 1024 * 1024, ALLOCATIONS_MAX = 16 * 1024 * 1024 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool decoding;
static size_t allocated;

static void
on_malloc(const volatile void *p, size_t size)
{
	(void)p;
	if (!decoding)
		return;
	allocated += size;
	const bool follows_a_lie = size > ALLOCATION_MAX || allocated > ALLOCATIONS_MAX;
	MUST(!follows_a_lie);
}

static void
on_free(const volatile void *p)
{
	(void)p;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	MUST(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
	return 0;
}

/* Printed whole, and into buffers that are too small; never a byte beyond, never unterminated. */
static void
print(enum msg m, const union msg_body *body)
{
	static const size_t sizes[] = { 1, 2, 7, 64, 4096 };

	for (size_t i = 0; i < NITEMS(sizes); i++) {
		for (int json = 0; json <= 1; json++) {
			char *buf = malloc(sizes[i]);
			const size_t len = msg_print(m, body, json, buf, sizes[i]);

			MUST(len < sizes[i] && buf[len] == '\0' && strlen(buf) == len);
			free(buf);
		}
	}
}

static void
accepted(enum msg m, const union msg_body *body)
{
	struct msg_arena arena;
	msgpack_sbuffer first, second;
	union msg_body again;

	msg_arena_init(&arena);
	msgpack_sbuffer_init(&first);
	msgpack_sbuffer_init(&second);
	msg_pack(&first, m, body);
	MUST(msg_unpack_value(m, first.data, first.size, &arena, &again));
	msg_pack(&second, m, &again);
	MUST(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
	print(m, &again);
	/* What the tap shows of it is a message, too. */
	msg_redact(m, &again, &arena);
	msgpack_sbuffer_clear(&second);
	msg_pack(&second, m, &again);
	MUST(msg_unpack_value(m, second.data, second.size, &arena, &again));
	msgpack_sbuffer_destroy(&first);
	msgpack_sbuffer_destroy(&second);
	msg_arena_free(&arena);
}

/* Our reader and the library's accept the same bytes as one object. */
static void
as_msgpack_reads_it(const uint8_t *bytes, size_t len, size_t used)
{
	msgpack_zone zone;
	msgpack_object object;
	size_t off = 0;

	MUST(msgpack_zone_init(&zone, MSGPACK_ZONE_CHUNK_SIZE));
	const msgpack_unpack_return rc = msgpack_unpack((const char *)bytes, len, &off, &zone, &object);
	MUST((rc == MSGPACK_UNPACK_SUCCESS || rc == MSGPACK_UNPACK_EXTRA_BYTES) && off == used);
	MUST(object.type == MSGPACK_OBJECT_ARRAY);
	msgpack_zone_destroy(&zone);
}

static void
try_value(enum msg m, const uint8_t *bytes, size_t len, struct msg_arena *arena)
{
	union msg_body body;

	decoding = true;
	const bool ok = msg_unpack_value(m, bytes, len, arena, &body);
	decoding = false;
	if (ok) {
		as_msgpack_reads_it(bytes, len, len);
		accepted(m, &body);
	}
}

static void
try_frame(const uint8_t *bytes, size_t len, struct msg_arena *arena)
{
	struct frame f;
	union msg_body body;

	decoding = true;
	const char *refusal = frame_open(&f, bytes, len, arena);
	decoding = false;
	if (refusal != NULL) {
		MUST(strlen(refusal) > 0);
		return;
	}
	for (uint32_t left = f.bodies; left > 0; left--) {
		const uint8_t *at = f.next;
		const size_t before = f.left;

		MUST(f.bodies == left);
		decoding = true;
		const bool ok = frame_next(&f, arena, &body);
		decoding = false;
		if (!ok) {
			MUST(f.bodies == left && f.next == at);
			return;
		}
		as_msgpack_reads_it(at, before, before - f.left);
		accepted(f.env.type, &body);
	}
	MUST(f.left == 0 && !frame_next(&f, arena, &body));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct msg_arena arena;

	if (size == 0)
		return 0;
	/* Exactly as long as it is: a read beyond it is seen. */
	uint8_t *bytes = obj_memdup(data + 1, size - 1);
	const unsigned form = data[0] % (MSG_MAX + 1);

	allocated = 0;
	msg_arena_init(&arena);
	if (form == 0)
		try_frame(bytes, size - 1, &arena);
	else
		try_value((enum msg)(form - 1), bytes, size - 1, &arena);
	msg_arena_free(&arena);
	free(bytes);
	return 0;
}
