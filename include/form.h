/*
 * include/form.h - fields of application/x-www-form-urlencoded, and of a query. Pure.
 *
 *	size_t len = 0;
 *
 *	form_put(buf, sizeof(buf), &len, "clientId=", id, id_len);
 *	form_put(buf, sizeof(buf), &len, "&clientSecret=", secret, secret_len);
 *	if (len == sizeof(buf)) it did not fit: a request is not cut
 */
#ifndef MUSTER_FORM_H
#define MUSTER_FORM_H

#include <stddef.h>

/*
 * A name as it is, and a value with everything encoded but unreserved characters (RFC 3986). NUL-terminated;
 * *len is where it ends, or `size` when the longest form would not fit.
 */
void form_put(char *buf, size_t size, size_t *len, const char *name, const char *value, size_t value_len);

#endif
