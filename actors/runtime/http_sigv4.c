/* actors/runtime/http_sigv4.c - the four steps of a signature: canonical request, text to sign, key, HMAC. */
#include "http_sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ascii.h"
#include "obj.h"

#define ALGORITHM	"AWS4-HMAC-SHA256"
#define SCOPE		"aws:amz:"
#define DATE_FORM	"00000000T000000Z"

enum { SHA256_BYTES = 32, HEX_SIZE = 2 * SHA256_BYTES + 1, SIGNED_MAX = 16, DAY = 8, KEY_MAX = 256 };

struct signed_header {
	const char	*name, *value;
	size_t		 name_len;
};

/* A buffer that is large enough by construction. */
struct text {
	char	*bytes;
	size_t	 len, size;
};

static size_t read_headers(const struct http_signing *, struct signed_header *);
static void sort(struct signed_header *, size_t);
static const char *find_date(const struct signed_header *, size_t);
static void put_canonical(struct text *, const struct http_signing *, const struct signed_header *, size_t);
static void put_names(struct text *, const struct signed_header *, size_t);
static void put_lower(struct text *, const char *, size_t);
static void put_value(struct text *, const char *);
static void put(struct text *, const char *, size_t);
static void puts_to(struct text *, const char *);
static void sign(const struct http_sigv4 *, const char *, const char *, const char *, char *);
static void hmac(const void *, size_t, const void *, size_t, unsigned char *);
static void hash(const void *, size_t, char *);
static void to_hex(const unsigned char *, char *);

char *
http_sigv4_authorization(const struct http_sigv4 *key, const struct http_signing *s)
{
	struct signed_header headers[SIGNED_MAX];
	const size_t n = read_headers(s, headers);
	const char *const date = find_date(headers, n);
	size_t size = strlen(s->method) + strlen(s->path) + HEX_SIZE + 16;
	char scope[KEY_MAX], digest[HEX_SIZE], to_sign[2 * KEY_MAX], signature[HEX_SIZE];
	char *authorization = NULL;

	if (date == NULL || strncmp(key->scope, SCOPE, sizeof(SCOPE) - 1) != 0)
		return NULL;
	const char *const region = key->scope + sizeof(SCOPE) - 1, *const colon = strchr(region, ':');
	if (colon == NULL || strlen(key->scope) + DAY + sizeof(ALGORITHM) > KEY_MAX / 2)
		return NULL;
	snprintf(scope, sizeof(scope), "%.*s/%.*s/%s/aws4_request", (int)DAY, date,
	    (int)(colon - region), region, colon + 1);

	sort(headers, n);
	for (size_t i = 0; i < n; i++)
		size += 2 * headers[i].name_len + strlen(headers[i].value) + 4;
	struct text canonical = { .bytes = obj_alloc(size), .size = size };
	put_canonical(&canonical, s, headers, n);
	hash(canonical.bytes, canonical.len, digest);
	snprintf(to_sign, sizeof(to_sign), ALGORITHM "\n%.*s\n%s\n%s", (int)sizeof(DATE_FORM) - 1,
	    date, scope, digest);
	sign(key, date, scope, to_sign, signature);

	explicit_bzero(canonical.bytes, canonical.len);		/* the session token is in it */
	canonical.len = 0;
	put_names(&canonical, headers, n);
	MUST(asprintf(&authorization, ALGORITHM " Credential=%s/%s, SignedHeaders=%.*s, Signature=%s",
	    key->access_key, scope, (int)canonical.len, canonical.bytes, signature) != -1);
	free(canonical.bytes);
	return authorization;
}

/* The host and the caller's headers; 0: too many. */
static size_t
read_headers(const struct http_signing *s, struct signed_header *out)
{
	size_t n = 0;

	out[n++] = (struct signed_header){ .name = "host", .value = s->host, .name_len = 4 };
	for (const char *const *h = s->headers; h != NULL && *h != NULL; h++) {
		const char *const colon = strchr(*h, ':');

		if (n == SIGNED_MAX || colon == NULL)
			return 0;
		out[n++] = (struct signed_header){ .name = *h, .value = colon + 1,
			.name_len = (size_t)(colon - *h) };
	}
	return n;
}

static int
compare(const struct signed_header *a, const struct signed_header *b)
{
	const size_t shorter = a->name_len < b->name_len ? a->name_len : b->name_len;
	const int order = strncasecmp(a->name, b->name, shorter);

	return order != 0 ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static void
sort(struct signed_header *headers, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		for (size_t at = i; at > 0 && compare(&headers[at - 1], &headers[at]) > 0; at--) {
			const struct signed_header swapped = headers[at];

			headers[at] = headers[at - 1];
			headers[at - 1] = swapped;
		}
	}
}

/* The value of X-Amz-Date, without blanks before it. */
static const char *
find_date(const struct signed_header *headers, size_t n)
{
	static const struct signed_header wanted = { .name = "x-amz-date", .name_len = 10 };

	for (size_t i = 0; i < n; i++) {
		if (compare(&headers[i], &wanted) != 0)
			continue;
		const char *const date = headers[i].value + strspn(headers[i].value, " \t");

		for (size_t at = 0; at < sizeof(DATE_FORM); at++) {
			if (DATE_FORM[at] == '0' ? !ascii_digit(date[at]) : date[at] != DATE_FORM[at])
				return NULL;
		}
		return date;
	}
	return NULL;
}

static void
put_canonical(struct text *to, const struct http_signing *s, const struct signed_header *headers, size_t n)
{
	char digest[HEX_SIZE];

	puts_to(to, s->method);
	puts_to(to, "\n");
	puts_to(to, s->path);
	puts_to(to, "\n\n");
	for (size_t i = 0; i < n; i++) {
		put_lower(to, headers[i].name, headers[i].name_len);
		puts_to(to, ":");
		put_value(to, headers[i].value);
		puts_to(to, "\n");
	}
	puts_to(to, "\n");
	put_names(to, headers, n);
	puts_to(to, "\n");
	hash(s->body, s->body_len, digest);
	puts_to(to, digest);
}

static void
put_names(struct text *to, const struct signed_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			puts_to(to, ";");
		put_lower(to, headers[i].name, headers[i].name_len);
	}
}

static void
put_lower(struct text *to, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const char c = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];

		put(to, &c, 1);
	}
}

/* Without blanks at its ends; a run of blanks inside is one. */
static void
put_value(struct text *to, const char *value)
{
	bool first = true;

	for (value += strspn(value, " \t"); *value != '\0'; value += strspn(value, " \t")) {
		const size_t word = strcspn(value, " \t");

		if (!first)
			puts_to(to, " ");
		put(to, value, word);
		value += word;
		first = false;
	}
}

static void
put(struct text *to, const char *bytes, size_t len)
{
	MUST(len <= to->size - to->len);
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

static void
puts_to(struct text *to, const char *s)
{
	put(to, s, strlen(s));
}

/* The key is derived from the parts of the scope, one after the other. */
static void
sign(const struct http_sigv4 *key, const char *date, const char *scope, const char *text, char *signature)
{
	const size_t first_len = strlen(key->secret_key) + 4;
	char *const first = obj_alloc(first_len + 1);
	unsigned char derived[SHA256_BYTES];

	memcpy(first, "AWS4", 4);
	memcpy(first + 4, key->secret_key, first_len - 4);
	hmac(first, first_len, date, DAY, derived);
	for (const char *part = scope + DAY; *part == '/';) {
		const size_t len = strcspn(++part, "/");

		hmac(derived, sizeof(derived), part, len, derived);
		part += len;
	}
	hmac(derived, sizeof(derived), text, strlen(text), derived);
	to_hex(derived, signature);
	explicit_bzero(first, first_len);
	explicit_bzero(derived, sizeof(derived));
	free(first);
}

/* key and out may be the same. */
static void
hmac(const void *key, size_t key_len, const void *text, size_t len, unsigned char *out)
{
	unsigned char result[SHA256_BYTES];

	MUST(HMAC(EVP_sha256(), key, (int)key_len, text, len, result, NULL) != NULL);
	memcpy(out, result, sizeof(result));
	explicit_bzero(result, sizeof(result));
}

static void
hash(const void *bytes, size_t len, char *hex)
{
	unsigned char digest[SHA256_BYTES];

	MUST(EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) == 1);
	to_hex(digest, hex);
}

static void
to_hex(const unsigned char *bytes, char *hex)
{
	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", bytes[i]);
}
