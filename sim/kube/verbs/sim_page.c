/* sim/kube/verbs/sim_page.c - continue tokens. */
#include "sim_page.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"

static char *to_base64url(const char *, size_t);
static char *from_base64url(const char *, size_t *);

char *
sim_page_token(int64_t rv, const char *after)
{
	struct sim_buf b = { 0 };

	sim_buf_printf(&b, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)rv);
	sim_buf_quote(&b, after);
	b.len--;			/* the closing quote: the key that follows is this one and a NUL */
	sim_buf_puts(&b, "\\u0000\"}");
	char *const token = to_base64url(b.bytes, b.len);
	sim_buf_free(&b);
	return token;
}

bool
sim_page_parse(struct sim_page *p, const char *token, char *err, size_t size)
{
	size_t len;
	char *const text = from_base64url(token, &len);
	json_t *const body = text != NULL ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;
	const json_t *const start = json_object_get(body, "start");
	const char *wrong = NULL;

	p->rv = json_integer_value(json_object_get(body, "rv"));
	if (body == NULL)
		wrong = "continue key is not valid";
	else if (strcmp(sim_json_text(body, "v"), "meta.k8s.io/v1") != 0)
		wrong = "continue key is not valid: server does not recognize this encoded version";
	else if (p->rv == 0)
		wrong = "continue key is not valid: incorrect encoded start resourceVersion "
			"(version meta.k8s.io/v1)";
	else if (json_string_length(start) == 0)
		wrong = "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)";
	if (wrong != NULL) {
		snprintf(err, size, "invalid continue token: %s", wrong);
	} else {
		/*
		 * KEY\0 is the least key above KEY. Ours end at a NUL; KEY\1 is as good: no key has
		 * such a byte.
		 */
		p->start = obj_alloc(json_string_length(start) + 1);
		memcpy(p->start, json_string_value(start), json_string_length(start));
		if (p->start[json_string_length(start) - 1] == '\0')
			p->start[json_string_length(start) - 1] = '\1';
	}
	json_decref(body);
	free(text);
	return wrong == NULL;
}

static char *
to_base64url(const char *bytes, size_t len)
{
	char *const out = obj_alloc(len / 3 * 4 + 8);

	EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)bytes, (int)len);
	for (char *p = out; *p != '\0'; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	out[strcspn(out, "=")] = '\0';
	return out;
}

/* NULL: not base64url. */
static char *
from_base64url(const char *text, size_t *len)
{
	const size_t n = strlen(text), padded = (n + 3) / 4 * 4;
	char *const standard = obj_alloc(padded + 1);
	char *out = obj_alloc(padded + 1);

	for (size_t i = 0; i < padded; i++)
		standard[i] = i >= n ? '=' : text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	const int decoded = n % 4 == 1 ? -1
	    : EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)standard, (int)padded);
	free(standard);
	if (decoded < (int)(padded - n)) {
		free(out);
		return NULL;
	}
	*len = (size_t)decoded - (padded - n);
	return out;
}
