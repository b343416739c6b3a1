/*
 * cli/tapfile.h - tap records in a file: "MUSTERTAP1\n", then per record its length (4 bytes, big-
 * endian) and a msgpack array [topic (str), meta (bin), frame (bin)].
 */
#ifndef MUSTER_TAPFILE_H
#define MUSTER_TAPFILE_H

#include <stdio.h>

#include "capture.h"

enum { TAPFILE_RECORD_MAX = FRAME_MAX_BYTES + 64 * 1024 };

struct tapfile;

/* NULL with errno. Only the owner may read it: keys and values are in there. */
struct tapfile *tapfile_create(const char *path);
/* NULL with errno; EINVAL: it is no such file. */
struct tapfile *tapfile_open(const char *path);
/* False with errno when anything could not be written. */
bool tapfile_close(struct tapfile **tp);

bool tapfile_write(struct tapfile *t, const struct capture_raw *raw);
/*
 * The next record, in views that are valid until the next call. False: the end of the file, or *why is what
 * is wrong with the record at tapfile_offset.
 */
bool tapfile_read(struct tapfile *t, struct capture_raw *raw, const char **why);
long tapfile_offset(const struct tapfile *t);

#endif
