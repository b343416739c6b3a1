/*
 * sim/kube/store/sim_blob.h - one version of one object, as bytes. Never changed once made; shared
 * by counting.
 *
 * The JSON is kept with its keys in the order of the real server, without apiVersion and kind (they
 * depend on the requested version): the blob has the offsets of these and of the resourceVersion,
 * so that a list is made by joining bytes and a tombstone by putting another number in. Beside it
 * stands what selectors and the garbage collector need, so that neither needs a parser.
 */
#ifndef MUSTER_SIM_BLOB_H
#define MUSTER_SIM_BLOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/kube/discovery/sim_resource.h"

struct evbuffer;

struct sim_blob {
	unsigned	 refs;
	uint32_t	 len;		/* of the JSON, without the first brace */
	uint32_t	 version_at, kind_at;	/* where the members apiVersion and kind belong */
	uint32_t	 meta_at, meta_len;	/* the value of metadata, braces included */
	uint32_t	 rv_at, rv_len;	/* digits of the resourceVersion in the JSON; 0: it has none */
	uint32_t	 key_at, uid_at, labels_at, fields_at, owners_at, size;
	uint64_t	 rv;
	char		 bytes[];
};

/* Takes nothing. rv 0: an object that is not stored (dry run), without a resourceVersion. */
struct sim_blob *sim_blob_new(const json_t *object, const struct sim_resource *r, uint64_t rv);
struct sim_blob *sim_blob_ref(struct sim_blob *b);
void sim_blob_unref(struct sim_blob **bp);

/* "namespace/name", or "name" of a cluster-wide object: the order of lists. */
const char *sim_blob_key(const struct sim_blob *b);
const char *sim_blob_name(const struct sim_blob *b);
/* Of objects in the order of keys: the index of the first whose key is not less than key. */
size_t sim_blob_seek(struct sim_blob *const *objects, size_t n, const char *key);
/* Has it a deletionTimestamp? */
bool sim_blob_is_marked(const struct sim_blob *b);
const char *sim_blob_uid(const struct sim_blob *b);
/* NULL: none. sim_blob_field has metadata.name, metadata.namespace and the resource's `fields`. */
const char *sim_blob_get_label(const char *key, const void *blob);	/* for selector_matches */
const char *sim_blob_label(const struct sim_blob *b, const char *key);
const char *sim_blob_field(const struct sim_blob *b, const char *path);
/* The uids of its owners, one after the other, ended by "". */
const char *sim_blob_owners(const struct sim_blob *b);

/*
 * The whole object in the version of r, which has the form of the stored one (typed: with kind and
 * apiVersion), and its metadata alone as the type PartialObjectMetadata has it. With rv other than 0
 * that number stands in place of the object's own.
 */
void sim_blob_write(struct evbuffer *out, const struct sim_blob *b, const struct sim_resource *r, bool typed,
    uint64_t rv);
void sim_blob_write_metadata(struct evbuffer *out, const struct sim_blob *b, const struct sim_resource *r,
    uint64_t rv);
/* The whole object in the version of r. A new reference. */
json_t *sim_blob_parse(const struct sim_blob *b, const struct sim_resource *r);
/* Does that version differ from the stored one? Then the bytes cannot be sent: sim_blob_parse. */
bool sim_blob_needs_conversion(const struct sim_resource *r);
/* The members of an object in the version of r get the names they are stored by. Returns object. */
json_t *sim_blob_stored_form(json_t *object, const struct sim_resource *r);

#endif
