/* actors/capa-annotator/wire.c - requests and answers of STS and EC2. */
#include "wire.h"

#include <string.h>

#include "ascii.h"
#include "form.h"
#include "kube/time.h"
#include "obj.h"
#include "xml_reader.h"

enum value {
	V_ROOT, V_CODE, V_MESSAGE, V_REQUEST_ID,
	/* STS */
	V_ACCESS_KEY, V_SECRET_KEY, V_SESSION_TOKEN, V_EXPIRATION,
	/* EC2 */
	V_NEXT_TOKEN, V_ITEM, V_NAME, V_ARCH, V_VCPUS, V_MEMORY,
	V_GPU, V_GPU_MAKER, V_GPU_COUNT, V_GPU_LOGICAL,
};

/* Both forms of an error are read in answers of both services: proxies and emulators mix them. */
#define ERROR_ROWS								\
	{ "ErrorResponse/Error/Code",      V_CODE,       AWS_CODE_MAX,    XML_TEXT_CUT },	\
	{ "ErrorResponse/Error/Message",   V_MESSAGE,    AWS_MESSAGE_MAX, XML_TEXT_CUT },	\
	{ "ErrorResponse/RequestId",       V_REQUEST_ID, AWS_CODE_MAX,    XML_TEXT_CUT },	\
	{ "Response/Errors/Error/Code",    V_CODE,       AWS_CODE_MAX,    XML_TEXT_CUT },	\
	{ "Response/Errors/Error/Message", V_MESSAGE,    AWS_MESSAGE_MAX, XML_TEXT_CUT },	\
	{ "Response/RequestID",            V_REQUEST_ID, AWS_CODE_MAX,    XML_TEXT_CUT }

#define STS_ROOT	"AssumeRoleWithWebIdentityResponse"
#define STS_KEYS	STS_ROOT "/AssumeRoleWithWebIdentityResult/Credentials/"
static const struct xml_row sts_rows[] = {
	{ STS_ROOT,                                V_ROOT,          0,             XML_END },
	{ STS_ROOT "/ResponseMetadata/RequestId",  V_REQUEST_ID,    AWS_CODE_MAX,  XML_TEXT_CUT },
	{ STS_KEYS "AccessKeyId",                  V_ACCESS_KEY,    AWS_KEY_MAX,   XML_TEXT },
	{ STS_KEYS "SecretAccessKey",              V_SECRET_KEY,    AWS_KEY_MAX,   XML_TEXT },
	{ STS_KEYS "SessionToken",                 V_SESSION_TOKEN, AWS_TOKEN_MAX, XML_TEXT },
	{ STS_KEYS "Expiration",                   V_EXPIRATION,    64,            XML_TEXT },
	ERROR_ROWS,
};

#define EC2_ROOT	"DescribeInstanceTypesResponse"
#define EC2_ITEM	EC2_ROOT "/instanceTypeSet/item"
#define EC2_GPU		EC2_ITEM "/gpuInfo/gpus/item"
enum { NUMBER_MAX = 20 };
static const struct xml_row ec2_rows[] = {
	{ EC2_ROOT,                                          V_ROOT,        0,                  XML_END },
	{ EC2_ROOT "/requestId",                             V_REQUEST_ID,  AWS_CODE_MAX,       XML_TEXT_CUT },
	{ EC2_ROOT "/nextToken",                             V_NEXT_TOKEN,  AWS_TOKEN_MAX,      XML_TEXT },
	{ EC2_ITEM,                                          V_ITEM,        0,                  XML_END },
	{ EC2_ITEM "/instanceType",                          V_NAME,        CATALOGUE_NAME_MAX, XML_TEXT },
	{ EC2_ITEM "/processorInfo/supportedArchitectures/item", V_ARCH,    64,                 XML_TEXT },
	{ EC2_ITEM "/vCpuInfo/defaultVCpus",                 V_VCPUS,       NUMBER_MAX,         XML_TEXT },
	{ EC2_ITEM "/memoryInfo/sizeInMiB",                  V_MEMORY,      NUMBER_MAX,         XML_TEXT },
	{ EC2_GPU,                                           V_GPU,         0,                  XML_END },
	{ EC2_GPU "/manufacturer",                           V_GPU_MAKER,   AWS_CODE_MAX,       XML_TEXT },
	{ EC2_GPU "/count",                                  V_GPU_COUNT,   NUMBER_MAX,         XML_TEXT },
	{ EC2_GPU "/logicalGpuCount",                        V_GPU_LOGICAL, NUMBER_MAX,         XML_TEXT },
	ERROR_ROWS,
};

struct aws_answer {
	uint32_t		 magic;
#define AWS_ANSWER_MAGIC	0x41575341u
	enum aws_service	 service;
	struct xml_reader	*xml;
	bool			 root;		/* of the answer that was asked for */
	char			 code[AWS_CODE_MAX + 1], message[AWS_MESSAGE_MAX + 1];
	char			 request_id[AWS_CODE_MAX + 1];
	char			 error[XML_ERROR_MAX];
	struct aws_credentials	 credentials;
	char			*next_token;
	/* The item that is being read. */
	aws_type_handler	*types;
	void			*arg;
	uint32_t		 ntypes;
	char			 name[CATALOGUE_NAME_MAX + 1];
	struct instance_type	 figures;
	enum gpu_maker		 maker;
	uint32_t		 gpu_count, gpu_logical;
};

static xml_handler on_value;
static void on_item(struct aws_answer *, const struct xml_row *);
static void on_gpu(struct aws_answer *, const struct xml_row *);
static void set_text(struct aws_answer *, const struct xml_row *, char **, const char *, size_t);
static void set_number(struct aws_answer *, const struct xml_row *, uint32_t *, const char *, size_t);
static const char *missing(const struct aws_answer *);
static void wipe_text(char **);
static void put(char *, size_t, size_t *, const char *, struct wire_str);

/* ---- Requests ---- */

bool
aws_session_name_valid(struct wire_str name)
{
	if (name.len < 2 || name.len > 64)
		return false;
	for (uint32_t i = 0; i < name.len; i++) {
		const char c = name.p[i];

		if (!ascii_letter(c) && !ascii_digit(c) && memchr("_=,.@-", c, 6) == NULL)
			return false;
	}
	return true;
}

size_t
aws_sts_body(char *buf, size_t size, const struct aws_identity *identity)
{
	struct wire_str token = identity->token;
	size_t len = 0;

	while (token.len > 0 && memchr(" \t\r\n", token.p[token.len - 1], 4) != NULL)
		token.len--;
	put(buf, size, &len, "Action=AssumeRoleWithWebIdentity&RoleArn=", identity->role_arn);
	put(buf, size, &len, "&RoleSessionName=", identity->session_name);
	put(buf, size, &len, "&Version=2011-06-15&WebIdentityToken=", token);
	return len < size ? len : 0;
}

size_t
aws_ec2_body(char *buf, size_t size, struct wire_str next_token)
{
	size_t len = 0;

	put(buf, size, &len, "Action=DescribeInstanceTypes&MaxResults=100", (struct wire_str){ .p = "" });
	_Static_assert(AWS_PAGE_RESULTS == 100, "as the body has it");
	if (next_token.len > 0)
		put(buf, size, &len, "&NextToken=", next_token);
	put(buf, size, &len, "&Version=2016-11-15", (struct wire_str){ .p = "" });
	return len < size ? len : 0;
}

/* ---- Answers ---- */

struct aws_answer *
aws_answer_new(enum aws_service service, aws_type_handler *types, void *arg)
{
	struct aws_answer *a;

	MUST((unsigned)service < AWS_SERVICE_MAX && (service == AWS_STS || types != NULL));
	OBJ_NEW(a, AWS_ANSWER_MAGIC);
	a->service = service;
	a->types = types;
	a->arg = arg;
	a->xml = service == AWS_STS ? xml_reader_new(sts_rows, NITEMS(sts_rows), on_value, a)
				    : xml_reader_new(ec2_rows, NITEMS(ec2_rows), on_value, a);
	return a;
}

void
aws_answer_free(struct aws_answer **ap)
{
	struct aws_answer *a;

	if (*ap == NULL)
		return;
	OBJ_TAKE(a, ap, AWS_ANSWER_MAGIC);
	xml_reader_free(&a->xml);
	aws_credentials_free(&a->credentials);
	free(a->next_token);
	OBJ_FREE(a);
}

bool
aws_answer_feed(struct aws_answer *a, const void *bytes, size_t len)
{
	OBJ_CHECK(a, AWS_ANSWER_MAGIC);
	return xml_reader_feed(a->xml, bytes, len);
}

bool
aws_answer_end(struct aws_answer *a)
{
	OBJ_CHECK(a, AWS_ANSWER_MAGIC);
	const char *wrong = NULL;

	if (!xml_reader_end(a->xml))
		wrong = xml_reader_error(a->xml);
	else if (a->code[0] == '\0')
		wrong = missing(a);
	if (wrong != NULL)
		snprintf(a->error, sizeof(a->error), "%s", wrong);
	return wrong == NULL && a->code[0] == '\0';
}

const char *
aws_answer_code(const struct aws_answer *a)
{
	return a->code;
}

const char *
aws_answer_message(const struct aws_answer *a)
{
	return a->message;
}

const char *
aws_answer_request_id(const struct aws_answer *a)
{
	return a->request_id;
}

const char *
aws_answer_error(const struct aws_answer *a)
{
	return a->error;
}

void
aws_answer_credentials(struct aws_answer *a, struct aws_credentials *out)
{
	MUST(a->service == AWS_STS && a->root);
	*out = a->credentials;
	a->credentials = (struct aws_credentials){ 0 };
}

struct wire_str
aws_answer_next_token(const struct aws_answer *a)
{
	MUST(a->service == AWS_EC2 && a->root);
	return wire_str_of(a->next_token == NULL ? "" : a->next_token);
}

void
aws_credentials_free(struct aws_credentials *c)
{
	wipe_text(&c->access_key);
	wipe_text(&c->secret_key);
	wipe_text(&c->session_token);
	c->expires_us = 0;
}

/* ---- Values as they are read ---- */

static void
on_value(void *arg, const struct xml_row *row, const char *text, size_t len)
{
	struct aws_answer *const a = arg;

	switch ((enum value)row->id) {
	case V_ROOT:
		a->root = true;
		break;
	case V_CODE:
		snprintf(a->code, sizeof(a->code), "%s", len > 0 ? text : "Unknown");
		break;
	case V_MESSAGE:
		snprintf(a->message, sizeof(a->message), "%s", text);
		break;
	case V_REQUEST_ID:
		snprintf(a->request_id, sizeof(a->request_id), "%s", text);
		break;
	case V_ACCESS_KEY:
		set_text(a, row, &a->credentials.access_key, text, len);
		break;
	case V_SECRET_KEY:
		set_text(a, row, &a->credentials.secret_key, text, len);
		break;
	case V_SESSION_TOKEN:
		set_text(a, row, &a->credentials.session_token, text, len);
		break;
	case V_EXPIRATION:
		if (!time_parse(text, len, &a->credentials.expires_us))
			xml_reader_fail(a->xml, row, "not a time");
		break;
	case V_NEXT_TOKEN:
		if (len > 0)
			set_text(a, row, &a->next_token, text, len);
		break;
	case V_ITEM:
		on_item(a, row);
		break;
	case V_NAME:
		snprintf(a->name, sizeof(a->name), "%s", text);
		break;
	case V_ARCH:
		/* Old types list i386 beside x86_64; whatever is not ARM runs the amd64 build. */
		if (strcmp(text, "arm64") == 0 || strcmp(text, "arm64_mac") == 0)
			a->figures.arch = ARCH_ARM64;
		break;
	case V_VCPUS:
		set_number(a, row, &a->figures.vcpus, text, len);
		break;
	case V_MEMORY:
		set_number(a, row, &a->figures.memory_mib, text, len);
		break;
	case V_GPU:
		on_gpu(a, row);
		break;
	case V_GPU_MAKER:
		a->maker = strcmp(text, "NVIDIA") == 0 ? GPU_NVIDIA
		    : strcmp(text, "AMD") == 0 ? GPU_AMD : GPU_OTHER;
		break;
	case V_GPU_COUNT:
		set_number(a, row, &a->gpu_count, text, len);
		break;
	case V_GPU_LOGICAL:
		set_number(a, row, &a->gpu_logical, text, len);
		break;
	}
}

/* An item of instanceTypeSet ended. */
static void
on_item(struct aws_answer *a, const struct xml_row *row)
{
	if (a->name[0] == '\0')
		xml_reader_fail(a->xml, row, "it has no instanceType");
	else if (++a->ntypes > AWS_TYPES_MAX)
		xml_reader_fail(a->xml, row, "more items than a page may have");
	else if (!a->types(a->arg, wire_str_of(a->name), &a->figures))
		xml_reader_fail(a->xml, row, "the catalogue has no room for it");
	a->name[0] = '\0';
	a->figures = (struct instance_type){ 0 };
}

/* One model of GPU ended. A type of a fraction of a GPU has the count 0 and a logical one. */
static void
on_gpu(struct aws_answer *a, const struct xml_row *row)
{
	const uint32_t count = a->gpu_count > 0 ? a->gpu_count : a->gpu_logical;
	const enum gpu_maker maker = a->maker == GPU_NONE ? GPU_OTHER : a->maker;

	if (count > UINT32_MAX - a->figures.gpus)
		xml_reader_fail(a->xml, row, "the counts do not fit");
	else if (count > 0) {
		const bool mixed = a->figures.gpus > 0 && a->figures.maker != maker;

		a->figures.maker = mixed ? GPU_OTHER : (uint8_t)maker;
		a->figures.gpus += count;
	}
	a->gpu_count = a->gpu_logical = 0;
	a->maker = GPU_NONE;
}

static void
set_text(struct aws_answer *a, const struct xml_row *row, char **to, const char *text, size_t len)
{
	if (*to != NULL)
		xml_reader_fail(a->xml, row, "it occurs twice");
	else if (len == 0)
		xml_reader_fail(a->xml, row, "it is empty");
	else
		*to = obj_memdup(text, len + 1);
}

/* Decimal digits alone: no sign, no blanks. */
static void
set_number(struct aws_answer *a, const struct xml_row *row, uint32_t *to, const char *text, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len && n <= UINT32_MAX; i++) {
		if (!ascii_digit(text[i])) {
			xml_reader_fail(a->xml, row, "not a number");
			return;
		}
		n = n * 10 + (uint64_t)(text[i] - '0');
	}
	if (len == 0 || n > UINT32_MAX)
		xml_reader_fail(a->xml, row, len == 0 ? "not a number" : "the number is too large");
	else
		*to = (uint32_t)n;
}

/* What the answer of the service must have and has not; NULL: nothing. */
static const char *
missing(const struct aws_answer *a)
{
	const struct aws_credentials *const c = &a->credentials;

	if (!a->root)
		return a->service == AWS_STS ? "the document is no answer of STS"
					     : "the document is no answer of EC2";
	if (a->service == AWS_EC2)
		return NULL;
	return c->access_key == NULL ? STS_KEYS "AccessKeyId: missing"
	    : c->secret_key == NULL ? STS_KEYS "SecretAccessKey: missing"
	    : c->session_token == NULL ? STS_KEYS "SessionToken: missing"
	    : c->expires_us == 0 ? STS_KEYS "Expiration: missing" : NULL;
}

static void
wipe_text(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static void
put(char *buf, size_t size, size_t *len, const char *name, struct wire_str value)
{
	form_put(buf, size, len, name, value.p, value.len);
}
