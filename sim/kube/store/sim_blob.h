/*
 * sim/kube/store/sim_blob.h - one version of one object, as bytes. Never changed once made; shared by counting.
 *
 * The JSON is kept without apiVersion and kind (they depend on the version that is asked for) and
 * with the resourceVersion first, so that a list is made by joining bytes and a tombstone by
 * putting another number in. Beside it stands what selectors and the garbage collector ask, so that
 * neither needs a parser.
 */
#ifndef MUSTER_SIM_BLOB_H
#define MUSTER_SIM_BLOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/kube/discovery/sim_resource.h"

struct evbuffer;

struct blob {
	unsigned	 refs;
	uint32_t	 len;		/* of the JSON */
	uint32_t	 meta_len;	/* of the value of metadata, braces included */
	uint32_t	 rv_len;	/* digits of the resourceVersion in the JSON; 0: it has none */
	uint32_t	 key_at, uid_at, labels_at, fields_at, owners_at, size;
	uint64_t	 rv;
	char		 bytes[];
};

/* Takes nothing. rv 0: an object that is not stored (dry run), without a resourceVersion. */
struct blob *blob_new(const json_t *object, const struct resource *r, uint64_t rv);
struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob **bp);

/* "namespace/name", or "name" of a cluster-wide object: the order of lists. */
const char *blob_key(const struct blob *b);
const char *blob_name(const struct blob *b);
const char *blob_uid(const struct blob *b);
/* NULL: none. blob_field knows metadata.name, metadata.namespace and the resource's `fields`. */
const char *blob_label(const struct blob *b, const char *key);
const char *blob_field(const struct blob *b, const char *path);
/* The uids of its owners, one after the other, ended by "". */
const char *blob_owners(const struct blob *b);

/*
 * The bytes of `"metadata":{...},"spec":...}`, and of the metadata alone (`{...}`). With rv other than 0
 * that number stands in place of the object's own.
 */
void blob_write(struct evbuffer *out, const struct blob *b, uint64_t rv);
void blob_write_metadata(struct evbuffer *out, const struct blob *b, uint64_t rv);
/* The whole object in the version of r. A new reference. */
json_t *blob_parse(const struct blob *b, const struct resource *r);
/* Does that version look different from the stored one? Then bytes do not do, it takes blob_parse. */
bool blob_needs_conversion(const struct resource *r);
/* The members of an object in the version of r get the names they are stored by. Returns object. */
json_t *blob_stored_form(json_t *object, const struct resource *r);

#endif
