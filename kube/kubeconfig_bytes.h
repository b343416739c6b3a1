/* kube/kubeconfig_bytes.h - bytes that may be secret: owned, NUL-terminated, wiped before they are freed. */
#ifndef MUSTER_KUBECONFIG_BYTES_H
#define MUSTER_KUBECONFIG_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
	char	*data;		/* NULL: none */
	size_t	 len;		/* without the NUL */
};

/* A copy; what was there is wiped. */
void bytes_set(struct bytes *b, const void *data, size_t len);
/* Moves from *from, which is empty then. */
void bytes_take(struct bytes *b, struct bytes *from);
void bytes_wipe(struct bytes *b);
bool bytes_equal(const struct bytes *a, const struct bytes *b);
/* Wipes and frees a string and nulls the pointer; NULL is fine. */
void bytes_wipe_text(char **text);

/*
 * A regular file of at most max bytes, opened by its path each time: mounts are swapped under their
 * name. False with errno (EFBIG: too large, EINVAL: not a regular file); *b is untouched.
 */
bool bytes_read_file(struct bytes *b, const char *path, size_t max);

/* Standard base64 with padding; line breaks are skipped, as Go does. False: it is none; *b is untouched. */
bool bytes_from_base64(struct bytes *b, const char *text, size_t len);
void bytes_to_base64(struct bytes *b, const void *data, size_t len);

#endif
