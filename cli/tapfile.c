/*
 * cli/tapfile.c - record and replay.
 *
 * A file may be cut, damaged or hostile, so the three parts are taken by hand: each length against
 * the bytes that are left, before anything is touched.
 */
#include "tapfile.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "obj.h"

static const char header[] = "MUSTERTAP1\n";
enum { HEADER_BYTES = sizeof(header) - 1, LENGTH_BYTES = 4 };

enum {	/* first bytes, by the msgpack specification */
	MP_ARRAY3 = 0x93, MP_FIXSTR = 0xa0, MP_STR8 = 0xd9, MP_STR16 = 0xda, MP_STR32 = 0xdb,
	MP_BIN8 = 0xc4, MP_BIN16 = 0xc5, MP_BIN32 = 0xc6,
};

struct tapfile {
	uint32_t	 magic;
#define TAPFILE_MAGIC	0x54464c45u
	FILE		*stream;
	long		 offset;	/* of the record last read or tried */
	uint8_t		*buf;		/* TAPFILE_RECORD_MAX, when reading */
	int		 error;		/* of the first write that failed */
};

static struct tapfile *make(FILE *);
static bool put_bytes(FILE *, uint8_t, const struct byte_view *);
static bool take_record(struct byte_view, struct capture_raw *);
static bool take_bytes(struct byte_view *, struct byte_view *);
static bool take_length(struct byte_view *, size_t, size_t *);

struct tapfile *
tapfile_create(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	FILE *f = fd != -1 ? fdopen(fd, "w") : NULL;

	if (f == NULL)
		return NULL;
	struct tapfile *t = make(f);
	t->error = fwrite(header, 1, HEADER_BYTES, f) == HEADER_BYTES ? 0 : errno;
	return t;
}

struct tapfile *
tapfile_open(const char *path)
{
	char start[HEADER_BYTES];
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return NULL;
	if (fread(start, 1, HEADER_BYTES, f) != HEADER_BYTES || memcmp(start, header, HEADER_BYTES) != 0) {
		const int error = ferror(f) ? errno : EINVAL;

		fclose(f);
		errno = error;
		return NULL;
	}
	struct tapfile *t = make(f);
	t->buf = obj_alloc(TAPFILE_RECORD_MAX);
	return t;
}

bool
tapfile_close(struct tapfile **tp)
{
	struct tapfile *t;

	if (*tp == NULL)
		return true;
	OBJ_TAKE(t, tp, TAPFILE_MAGIC);
	if (fclose(t->stream) != 0 && t->error == 0)
		t->error = errno;
	const int error = t->error;
	free(t->buf);
	OBJ_FREE(t);
	errno = error;
	return error == 0;
}

/* By hand like the reading, and straight into the stream: nothing can be missing in the middle. */
bool
tapfile_write(struct tapfile *t, const struct capture_raw *raw)
{
	const size_t len = 1 + 3 * (1 + LENGTH_BYTES) + raw->topic.len + raw->meta.len + raw->frame.len;
	const uint32_t length = htobe32((uint32_t)len);

	OBJ_CHECK(t, TAPFILE_MAGIC);
	if (len > TAPFILE_RECORD_MAX)
		return true;	/* no frame is that large: the reader would refuse it */
	if (t->error == 0
	    && (fwrite(&length, 1, LENGTH_BYTES, t->stream) != LENGTH_BYTES
		|| putc(MP_ARRAY3, t->stream) == EOF || !put_bytes(t->stream, MP_STR32, &raw->topic)
		|| !put_bytes(t->stream, MP_BIN32, &raw->meta)
		|| !put_bytes(t->stream, MP_BIN32, &raw->frame)))
		t->error = errno;
	return t->error == 0;
}

bool
tapfile_read(struct tapfile *t, struct capture_raw *raw, const char **why)
{
	uint32_t length = 0;

	OBJ_CHECK(t, TAPFILE_MAGIC);
	*why = NULL;
	t->offset = ftell(t->stream);
	const size_t got = fread(&length, 1, LENGTH_BYTES, t->stream);
	if (got == 0 && feof(t->stream))
		return false;
	const size_t len = be32toh(length);
	if (got < LENGTH_BYTES)
		*why = "the file ends within a length";
	else if (len == 0 || len > TAPFILE_RECORD_MAX)
		*why = "a record has an impossible length";
	else if (fread(t->buf, 1, len, t->stream) != len)
		*why = "the file ends within a record";
	else if (!take_record((struct byte_view){ t->buf, len }, raw))
		*why = "a record is not [topic, meta, frame]";
	return *why == NULL;
}

long
tapfile_offset(const struct tapfile *t)
{
	return t->offset;
}

static struct tapfile *
make(FILE *stream)
{
	struct tapfile *t;

	OBJ_NEW(t, TAPFILE_MAGIC);
	t->stream = stream;
	return t;
}

/* A damaged record may lack parts: then p is NULL. */
static bool
put_bytes(FILE *f, uint8_t type, const struct byte_view *b)
{
	const uint32_t length = htobe32((uint32_t)b->len);

	return putc(type, f) != EOF && fwrite(&length, 1, LENGTH_BYTES, f) == LENGTH_BYTES
	    && (b->len == 0 || fwrite(b->p, 1, b->len, f) == b->len);
}

static bool
take_record(struct byte_view record, struct capture_raw *raw)
{
	struct byte_view left = { record.p + 1, record.len - 1 };

	return record.p[0] == MP_ARRAY3 && take_bytes(&left, &raw->topic) && take_bytes(&left, &raw->meta)
	    && take_bytes(&left, &raw->frame) && left.len == 0;
}

/* A str or bin off the front. */
static bool
take_bytes(struct byte_view *left, struct byte_view *out)
{
	static const uint8_t widths[256] = {
		[MP_STR8] = 1, [MP_STR16] = 2, [MP_STR32] = 4, [MP_BIN8] = 1, [MP_BIN16] = 2, [MP_BIN32] = 4,
	};
	size_t len;

	if (left->len == 0)
		return false;
	const uint8_t type = left->p[0];
	left->p++;
	left->len--;
	if ((type & 0xe0) == MP_FIXSTR)
		len = type & 0x1f;
	else if (widths[type] == 0 || !take_length(left, widths[type], &len))
		return false;
	if (len > left->len)
		return false;
	*out = (struct byte_view){ left->p, len };
	left->p += len;
	left->len -= len;
	return true;
}

static bool
take_length(struct byte_view *left, size_t width, size_t *out)
{
	if (left->len < width)
		return false;
	*out = 0;
	for (size_t i = 0; i < width; i++)
		*out = *out << 8 | left->p[i];
	left->p += width;
	left->len -= width;
	return true;
}
