/*
 * kube/frames.h - the wrapping of protobuf answers: `k8s\0` and a runtime.Unknown. Pure. (Watch
 * events: project.h.)
 */
#ifndef MUSTER_FRAMES_H
#define MUSTER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pb.h"

#define FRAMES_TYPE	"application/vnd.kubernetes.protobuf"
#define FRAMES_MAGIC	"k8s\0"
enum { FRAMES_MAGIC_LEN = 4 };

struct frames_object {
	struct pb	 message;
	const char	*kind;		/* "Node", not terminated; kind_len 0: not wrapped, or no kind */
	size_t		 kind_len;
};

bool frames_wrapped(const void *bytes, size_t len);
/* What is inside, or, when there is no wrapping, the bytes themselves. NULL, or why not. */
const char *frames_unwrap(const void *bytes, size_t len, struct frames_object *out);

#endif
