/*
 * kube/project.h - from the bytes of one Kubernetes object to the packed body of its kind's message
 * (proto/kinds.h), one for each role that reads the kind.
 *
 * The same object gives the same bytes from JSON and from protobuf. Hostile input is refused with
 * the field's name; of an object that is refused only its identity is used. Only what is read is
 * validated: of the rest, JSON must have its quotes and brackets right, protobuf its lengths. Of two
 * members of one name the first counts. In text that is not UTF-8, or has a NUL, such bytes are
 * replaced by U+FFFD as Go does it: one odd annotation must not hide a node. An object of another
 * kind, or without name, uid or resourceVersion, is refused.
 */
#ifndef MUSTER_PROJECT_H
#define MUSTER_PROJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PROJECT_READERS_MAX = 8, PROJECT_NAME_MAX = 253, PROJECT_UID_MAX = 64, PROJECT_RV_MAX = 64 };

enum project_form { PROJECT_JSON, PROJECT_PROTO };

/* The compiled field tree of one kind at one API version, for the roles that are enabled. */
struct projection;

/* readers: mask of the enabled roles; those that read nothing of the kind do not count. */
struct projection *projection_new(enum kind k, const char *version, uint64_t readers);
void projection_free(struct projection **pp);
/* Every field that is read stands under metadata: ask the server for PartialObjectMetadata only. */
bool projection_metadata_only(const struct projection *p);

/* One role's view of the object: a packed body, ready for actor_publish_packed. */
struct projected_value {
	enum role	 role;
	const uint8_t	*bytes;
	size_t		 len;
};

/* The names are copies; values are valid until the next call with the same projection. */
struct projected {
	char			 name[PROJECT_NAME_MAX + 1];
	char			 ns[64];		/* "": cluster-scoped */
	char			 uid[PROJECT_UID_MAX + 1];
	char			 rv[PROJECT_RV_MAX + 1];
	struct projected_value	 values[PROJECT_READERS_MAX];
	size_t			 nvalues;
	char			 error[200];		/* "spec.taints[2].key: not a string" */
};

/*
 * One object. JSON: the text, readable up to `padding` bytes behind its end (simdjson wants
 * PROJECT_PADDING of them; fewer: it is copied). Protobuf: the message itself, or with the `k8s\0`
 * envelope. False: refused, out->error has the cause; name, ns, uid and rv are set as far as the object
 * has them.
 */
enum { PROJECT_PADDING = 64 };
bool project(struct projection *p, enum project_form form, const void *bytes, size_t len, size_t padding,
    struct projected *out);

/* What the caller needs of a watch event before it projects the object inside. */
enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR, WATCH_UNKNOWN };
extern const char *const watch_type_names[WATCH_UNKNOWN + 1];
struct watch_event {
	enum watch_type	 type;
	const void	*object;	/* view into the bytes given */
	size_t		 len, padding;
};
/* A frame of the stream: one JSON line, or one protobuf WatchEvent. NULL, or why it is not an event. */
const char *watch_event_open(enum project_form form, const void *bytes, size_t len, size_t padding,
    struct watch_event *out);
/* A bookmark's resourceVersion, and whether it ends the initial events. */
bool watch_bookmark(enum project_form form, const void *object, size_t len, char *rv, size_t size,
    bool *initial_end);

#ifdef __cplusplus
}
#endif

#endif
