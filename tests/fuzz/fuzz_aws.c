/*
 * tests/fuzz/fuzz_aws.c - any bytes as an answer of STS or EC2; however they are cut, they are read the same.
 *
 * Input: service (1 byte), a seed for the chunks (1 byte), then the body. Rules: an answer is good, an error
 * of the service, or has an error of its own; a good one of STS has all credentials; names of types fit the
 * catalogue; an error names no bytes of the body.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actors/capa-annotator/wire.h"
#include "keytab.h"
#include "obj.h"
#include "random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that an answer returns. */
struct outcome {
	uint64_t	hash;
	size_t		types;
	bool		good, failed;
	char		code[AWS_CODE_MAX + 1], message[AWS_MESSAGE_MAX + 1];
};

static bool
on_type(void *arg, struct wire_str name, const struct instance_type *t)
{
	struct outcome *const o = arg;
	const uint32_t figures[] = { t->vcpus, t->memory_mib, t->gpus, t->arch, t->maker };

	MUST(name.len > 0 && name.len <= CATALOGUE_NAME_MAX);
	MUST(t->arch <= ARCH_ARM64 && t->maker <= GPU_OTHER && (t->gpus > 0) == (t->maker != GPU_NONE));
	o->hash = hash64_more(hash64_more(o->hash, name.p, name.len), figures, sizeof(figures));
	o->types++;
	return true;
}

static void
take_values(struct aws_answer *a, enum aws_service service, struct outcome *o)
{
	struct aws_credentials c;

	if (service == AWS_EC2) {
		const struct wire_str token = aws_answer_next_token(a);

		o->hash = hash64_more(o->hash, token.p, token.len);
		return;
	}
	aws_answer_credentials(a, &c);
	MUST(c.access_key[0] != '\0' && c.secret_key[0] != '\0' && c.session_token[0] != '\0');
	o->hash = hash64_more(o->hash, c.secret_key, strlen(c.secret_key));
	o->hash = hash64_more(o->hash, &c.expires_us, sizeof(c.expires_us));
	aws_credentials_free(&c);
}

/* seed 0: the body in one chunk. */
static void
read_body(enum aws_service service, const uint8_t *bytes, size_t len, uint64_t seed, struct outcome *o)
{
	struct aws_answer *a = aws_answer_new(service, on_type, o);
	bool fed = true;

	for (size_t at = 0, n; at < len && fed; at += n) {
		n = seed == 0 ? len : 1 + (size_t)random_below(&seed, 50);
		n = n < len - at ? n : len - at;
		void *exact = obj_memdup(bytes + at, n);

		fed = aws_answer_feed(a, exact, n);
		free(exact);
	}
	o->good = aws_answer_end(a);
	o->failed = aws_answer_error(a)[0] != '\0';
	strcpy(o->code, aws_answer_code(a));
	strcpy(o->message, aws_answer_message(a));
	MUST(o->good + (o->failed || o->code[0] != '\0') == 1);
	if (o->good)
		take_values(a, service, o);
	aws_answer_free(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	const enum aws_service service = data[0] & 1 ? AWS_EC2 : AWS_STS;
	struct outcome whole = { 0 }, parts = { 0 };

	read_body(service, data + 2, size - 2, 0, &whole);
	read_body(service, data + 2, size - 2, 1 + data[1], &parts);
	MUST(memcmp(&whole, &parts, sizeof(whole)) == 0);
	return 0;
}
