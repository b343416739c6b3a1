/* kube/path.c - parts joined with slashes, each of them checked. */
#include "path.h"

#include <string.h>

#include "ascii.h"

/* A buffer being filled; once it does not fit, nothing more goes in. */
struct path_buffer {
	char	*buf;
	size_t	 size, len;
	bool	 fits;
};

static bool part(struct path_buffer *, const char *);
static void put(struct path_buffer *, const char *, size_t);
static void put_escaped(struct path_buffer *, const char *);
static bool is_set(const char *);
static bool is_plain(char);

bool
path_make(char *buf, size_t size, const struct kube_path *p)
{
	struct path_buffer l = { .buf = buf, .size = size, .fits = true };
	const bool core = !is_set(p->group);

	put(&l, core ? "/api" : "/apis", core ? 4 : 5);
	const bool ok = (core || part(&l, p->group)) && part(&l, p->version)
	    && (!is_set(p->ns) || (part(&l, "namespaces") && part(&l, p->ns)))
	    && part(&l, p->resource) && (!is_set(p->name) || part(&l, p->name))
	    && (!is_set(p->subresource) || (is_set(p->name) && part(&l, p->subresource)));
	if (size > 0)
		buf[ok && l.fits ? l.len : 0] = '\0';
	return ok && l.fits;
}

bool
path_query(char *buf, size_t size, const char *key, const char *value)
{
	const size_t len = strlen(buf);
	struct path_buffer l = { .buf = buf, .size = size, .len = len, .fits = true };

	put(&l, memchr(buf, '?', len) == NULL ? "?" : "&", 1);
	put_escaped(&l, key);
	put(&l, "=", 1);
	put_escaped(&l, value);
	buf[l.fits ? l.len : len] = '\0';
	return l.fits;
}

/* "/" and the part; false: it is none. */
static bool
part(struct path_buffer *l, const char *text)
{
	if (!is_set(text) || strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return false;
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '/' || *p == '%' || (unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	}
	put(l, "/", 1);
	put_escaped(l, text);
	return true;
}

static void
put(struct path_buffer *l, const char *p, size_t n)
{
	l->fits = l->fits && l->len < l->size && n < l->size - l->len;
	if (!l->fits)
		return;
	memcpy(l->buf + l->len, p, n);
	l->len += n;
}

/* RFC 3986: what is not unreserved becomes %XX. */
static void
put_escaped(struct path_buffer *l, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (const char *p = text; *p != '\0'; p++) {
		const char coded[] = { '%', hex[(unsigned char)*p >> 4], hex[*p & 15] };

		put(l, is_plain(*p) ? p : coded, is_plain(*p) ? 1 : sizeof(coded));
	}
}

static bool
is_set(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static bool
is_plain(char c)
{
	return ascii_letter(c) || ascii_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}
