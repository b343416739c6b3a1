/* sim/base/sim_base64.c - bytes as JSON has them. */
#include <openssl/evp.h>
#include <stdlib.h>

#include "obj.h"
#include "sim_json_member.h"

json_t *
sim_json_base64(const void *bytes, size_t len)
{
	char *out = obj_alloc(len / 3 * 4 + 5);	/* four for each three begun, and a NUL */
	const int n = EVP_EncodeBlock((unsigned char *)out, bytes, (int)len);
	json_t *encoded = json_stringn(out, (size_t)n);

	free(out);
	return encoded;
}
