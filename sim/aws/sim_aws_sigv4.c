/* sim/aws/sim_aws_sigv4.c - the four steps of a signature: canonical request, text to sign, key, HMAC. */
#include "sim_aws_sigv4.h"

#include <ctype.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "obj.h"
#include "sim/base/sim_buf.h"

#define ALGORITHM	"AWS4-HMAC-SHA256"

enum { SHA256_BYTES = 32 };

static bool take(const char *, const char *, const char *, char *, size_t);
static bool read_scope(const char *, struct sim_aws_authorization *);
static bool add_headers(struct sim_buf *, const struct sim_aws_authorization *, const struct evkeyvalq *);
static bool add_values(struct sim_buf *, const struct evkeyvalq *, const char *);
static void add_value(struct sim_buf *, const char *);
static void add_hash(struct sim_buf *, const void *, size_t);
static void hmac(const void *, size_t, const char *, unsigned char *);
static void to_hex(const unsigned char *, char *);

bool
sim_aws_authorization_read(const char *header, struct sim_aws_authorization *out)
{
	char credential[4 * AWS_SIGV4_TEXT];

	*out = (struct sim_aws_authorization){ .date = "" };
	if (strncmp(header, ALGORITHM " ", sizeof(ALGORITHM)) != 0)
		return false;
	return take(header, "Credential=", ", ", credential, sizeof(credential))
	    && take(header, "SignedHeaders=", ", ", out->signed_headers, sizeof(out->signed_headers))
	    && take(header, "Signature=", ", ", out->signature, sizeof(out->signature))
	    && read_scope(credential, out);
}

bool
sim_aws_is_signed(const struct sim_aws_authorization *a, const char *name)
{
	const size_t len = strlen(name);

	for (const char *p = a->signed_headers; *p != '\0';) {
		const size_t n = strcspn(p, ";");

		if (n == len && strncmp(p, name, n) == 0)
			return true;
		p += n + (p[n] == ';');
	}
	return false;
}

bool
sim_aws_sign(const struct sim_aws_authorization *a, const struct sim_aws_request *r, const char *secret_key,
    char hex[AWS_SIGV4_HEX])
{
	const char *const date = evhttp_find_header(r->headers, "X-Amz-Date");
	struct sim_buf canonical = { 0 }, text = { 0 }, first = { 0 };
	unsigned char key[SHA256_BYTES];
	bool complete = false;

	sim_buf_puts(&canonical, "POST\n/\n\n");
	if (date == NULL || !add_headers(&canonical, a, r->headers))
		goto out;
	sim_buf_printf(&canonical, "\n%s\n", a->signed_headers);
	add_hash(&canonical, r->body, r->body_len);
	sim_buf_printf(&text, ALGORITHM "\n%s\n%s/%s/%s/aws4_request\n", date, a->date, a->region,
	    a->service);
	add_hash(&text, canonical.bytes, canonical.len);
	sim_buf_printf(&first, "AWS4%s", secret_key);
	hmac(first.bytes, first.len, a->date, key);
	hmac(key, sizeof(key), a->region, key);
	hmac(key, sizeof(key), a->service, key);
	hmac(key, sizeof(key), "aws4_request", key);
	hmac(key, sizeof(key), text.bytes, key);
	to_hex(key, hex);
	complete = true;
out:
	sim_buf_free(&canonical);
	sim_buf_free(&text);
	sim_buf_free(&first);
	return complete;
}

/* The value between `name` and one of the bytes of `ends`. */
static bool
take(const char *header, const char *name, const char *ends, char *to, size_t size)
{
	const char *const at = strstr(header, name);

	if (at == NULL)
		return false;
	const char *const value = at + strlen(name);
	const size_t len = strcspn(value, ends);
	if (len == 0 || len >= size)
		return false;
	memcpy(to, value, len);
	to[len] = '\0';
	return true;
}

/* KEY/20260102/eu-west-1/ec2/aws4_request */
static bool
read_scope(const char *credential, struct sim_aws_authorization *out)
{
	struct {
		char	*to;
		size_t	 size;
	} const parts[] = {
		{ out->access_key, sizeof(out->access_key) }, { out->date, sizeof(out->date) },
		{ out->region, sizeof(out->region) }, { out->service, sizeof(out->service) },
	};

	for (size_t i = 0; i < NITEMS(parts); i++) {
		const size_t len = strcspn(credential, "/");

		if (len == 0 || len >= parts[i].size || credential[len] != '/')
			return false;
		memcpy(parts[i].to, credential, len);
		credential += len + 1;
	}
	return strcmp(credential, "aws4_request") == 0;
}

/* Each signed header as "name:value\n", in the order of the list, which must be sorted. */
static bool
add_headers(struct sim_buf *to, const struct sim_aws_authorization *a, const struct evkeyvalq *headers)
{
	char before[AWS_SIGV4_TEXT] = "";

	for (const char *p = a->signed_headers; *p != '\0';) {
		const size_t len = strcspn(p, ";");
		char name[AWS_SIGV4_TEXT];

		if (len == 0 || len >= sizeof(name))
			return false;
		memcpy(name, p, len);
		name[len] = '\0';
		if (strcmp(before, name) >= 0)
			return false;
		memcpy(before, name, len + 1);
		sim_buf_printf(to, "%s:", name);
		if (!add_values(to, headers, name))
			return false;
		sim_buf_puts(to, "\n");
		p += len + (p[len] == ';');
	}
	return true;
}

/* Of a header that came more than once, all values, with commas. False: it did not come. */
static bool
add_values(struct sim_buf *to, const struct evkeyvalq *headers, const char *name)
{
	const struct evkeyval *header;
	bool found = false;

	TAILQ_FOREACH(header, headers, next) {
		if (strcasecmp(header->key, name) != 0)
			continue;
		if (found)
			sim_buf_puts(to, ",");
		add_value(to, header->value);
		found = true;
	}
	return found;
}

/* Without blanks at its ends; a run of blanks inside is one. */
static void
add_value(struct sim_buf *to, const char *value)
{
	for (const char *p = value + strspn(value, " \t"); *p != '\0';) {
		const size_t word = strcspn(p, " \t"), blanks = strspn(p + word, " \t");

		sim_buf_add(to, p, word);
		p += word + blanks;
		if (*p != '\0')
			sim_buf_puts(to, " ");
	}
}

static void
add_hash(struct sim_buf *to, const void *bytes, size_t len)
{
	unsigned char hash[SHA256_BYTES];
	char hex[AWS_SIGV4_HEX];

	MUST(EVP_Digest(bytes, len, hash, NULL, EVP_sha256(), NULL) == 1);
	to_hex(hash, hex);
	sim_buf_puts(to, hex);
}

/* key and out may be the same. */
static void
hmac(const void *key, size_t key_len, const char *text, unsigned char *out)
{
	unsigned char result[SHA256_BYTES];

	MUST(HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), result, NULL)
	    != NULL);
	memcpy(out, result, sizeof(result));
}

static void
to_hex(const unsigned char *bytes, char *hex)
{
	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", bytes[i]);
}
