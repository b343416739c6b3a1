/* actors/capa-annotator/xml_reader.c - expat under the rules of xml_reader.h. */
#include "xml_reader.h"

#include <expat.h>
#include <string.h>

#include "obj.h"
#include "utf8.h"

struct xml_reader {
	uint32_t		 magic;
#define XML_READER_MAGIC	0x584d4c52u
	XML_Parser		 parser;
	const struct xml_row	*rows;
	size_t			 nrows;
	xml_handler		*handler;
	void			*arg;
	/* Where the parser is. */
	char			 path[XML_PATH_MAX];
	size_t			 path_len, depth;
	struct {
		size_t			 path_len;	/* before the element */
		const struct xml_row	*row;		/* NULL: none */
	} open[XML_DEPTH_MAX];
	/* The text of the innermost element that a row wants the text of. */
	char			*text;
	size_t			 len, size;
	bool			 cut;
	size_t			 bytes;
	char			 error[XML_ERROR_MAX];
};

static void XMLCALL on_start(void *, const XML_Char *, const XML_Char **);
static void XMLCALL on_end(void *, const XML_Char *);
static void XMLCALL on_text(void *, const XML_Char *, int);
static void XMLCALL on_doctype(void *, const XML_Char *, const XML_Char *, const XML_Char *, int);
static bool parse(struct xml_reader *, const void *, size_t, bool);
static void fail(struct xml_reader *, const char *, const char *);
static const struct xml_row *find_row(const struct xml_reader *);
static void grow(struct xml_reader *, size_t);
static void *wiped_malloc(size_t);
static void *wiped_realloc(void *, size_t);
static void wiped_free(void *);

struct xml_reader *
xml_reader_new(const struct xml_row *rows, size_t nrows, xml_handler *handler, void *arg)
{
	static const XML_Memory_Handling_Suite memory = { wiped_malloc, wiped_realloc, wiped_free };
	struct xml_reader *r;

	OBJ_NEW(r, XML_READER_MAGIC);
	r->rows = rows;
	r->nrows = nrows;
	r->handler = handler;
	r->arg = arg;
	r->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
	MUST(r->parser != NULL);
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	grow(r, 1);
	return r;
}

void
xml_reader_free(struct xml_reader **rp)
{
	struct xml_reader *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, XML_READER_MAGIC);
	XML_ParserFree(r->parser);
	wiped_free(r->text);
	OBJ_FREE(r);
}

bool
xml_reader_feed(struct xml_reader *r, const void *bytes, size_t len)
{
	OBJ_CHECK(r, XML_READER_MAGIC);
	if (r->error[0] != '\0')
		return false;
	if (len > XML_BYTES_MAX - r->bytes) {
		fail(r, "the document", "larger than 16 MiB");
		return false;
	}
	r->bytes += len;
	return parse(r, bytes, len, false);
}

bool
xml_reader_end(struct xml_reader *r)
{
	OBJ_CHECK(r, XML_READER_MAGIC);
	return r->error[0] == '\0' && parse(r, "", 0, true);
}

void
xml_reader_fail(struct xml_reader *r, const struct xml_row *row, const char *cause)
{
	fail(r, row->path, cause);
}

const char *
xml_reader_error(const struct xml_reader *r)
{
	return r->error;
}

static bool
parse(struct xml_reader *r, const void *bytes, size_t len, bool final)
{
	char place[64];

	if (XML_Parse(r->parser, bytes, (int)len, final) == XML_STATUS_OK)
		return true;
	/* A handler has stopped the parser, and its own error stands; else the document is no XML. */
	snprintf(place, sizeof(place), "line %lu, column %lu", XML_GetCurrentLineNumber(r->parser),
	    XML_GetCurrentColumnNumber(r->parser));
	fail(r, place, XML_ErrorString(XML_GetErrorCode(r->parser)));
	return false;
}

static void
fail(struct xml_reader *r, const char *where, const char *cause)
{
	if (r->error[0] != '\0')
		return;
	snprintf(r->error, sizeof(r->error), "%s: %s", where, cause);
	XML_StopParser(r->parser, XML_FALSE);
}

/* ---- Handlers of expat ---- */

static void XMLCALL
on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct xml_reader *const r = arg;
	const char *const colon = strchr(name, ':');
	const char *const local = colon == NULL ? name : colon + 1;
	const size_t len = strlen(local);

	(void)attributes;
	if (r->error[0] != '\0')
		return;
	if (r->depth == XML_DEPTH_MAX) {
		fail(r, "the document", "more than 64 levels deep");
		return;
	}
	if (len + 1 >= sizeof(r->path) - r->path_len) {
		fail(r, "the document", "the name of an element is too long");
		return;
	}
	r->open[r->depth].path_len = r->path_len;
	if (r->path_len > 0)
		r->path[r->path_len++] = '/';
	memcpy(r->path + r->path_len, local, len + 1);
	r->path_len += len;
	r->open[r->depth++].row = find_row(r);
	r->len = 0;
	r->cut = false;
}

static void XMLCALL
on_end(void *arg, const XML_Char *name)
{
	struct xml_reader *const r = arg;

	(void)name;
	if (r->error[0] != '\0')
		return;
	const struct xml_row *const row = r->open[--r->depth].row;
	if (row != NULL) {
		r->text[r->len] = '\0';
		r->handler(r->arg, row, r->text, r->len);
	}
	r->len = 0;
	r->path_len = r->open[r->depth].path_len;
	r->path[r->path_len] = '\0';
}

/* The text of an element comes in pieces. What stands before or inside an element in it is not part of it. */
static void XMLCALL
on_text(void *arg, const XML_Char *text, int len)
{
	struct xml_reader *const r = arg;
	const struct xml_row *const row = r->depth == 0 ? NULL : r->open[r->depth - 1].row;
	size_t more = (size_t)len;

	if (r->error[0] != '\0' || row == NULL || row->want == XML_END || r->cut)
		return;
	if (more > row->max - r->len) {
		if (row->want == XML_TEXT) {
			fail(r, row->path, "the text is too long");
			return;
		}
		more = utf8_cut(text, more, row->max - r->len, more);
		r->cut = true;
	}
	grow(r, r->len + more + 1);
	memcpy(r->text + r->len, text, more);
	r->len += more;
}

static void XMLCALL
on_doctype(void *arg, const XML_Char *name, const XML_Char *system_id, const XML_Char *public_id,
    int has_internal_subset)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal_subset;
	fail(arg, "the document", "it has a document type declaration");
}

/* ---- Helpers ---- */

static const struct xml_row *
find_row(const struct xml_reader *r)
{
	for (size_t i = 0; i < r->nrows; i++) {
		if (strcmp(r->rows[i].path, r->path) == 0)
			return &r->rows[i];
	}
	return NULL;
}

static void
grow(struct xml_reader *r, size_t wanted)
{
	if (wanted <= r->size)
		return;
	r->size = wanted < 256 ? 256 : wanted * 2;
	r->text = wiped_realloc(r->text, r->size);
	MUST(r->text != NULL);
}

/* ---- Memory that is overwritten before it is freed ---- */

/* Its size stands before each block. */
struct block {
	_Alignas(max_align_t) size_t	size;
	char				bytes[];
};

static void *
wiped_malloc(size_t size)
{
	struct block *const b = calloc(1, sizeof(*b) + size);

	if (b == NULL)
		return NULL;
	b->size = size;
	return b->bytes;
}

/* realloc would leave a copy behind when it moves the block. */
static void *
wiped_realloc(void *old, size_t size)
{
	char *const bytes = wiped_malloc(size);

	if (bytes == NULL || old == NULL)
		return bytes;
	const size_t had = ((struct block *)((char *)old - offsetof(struct block, bytes)))->size;
	memcpy(bytes, old, had < size ? had : size);
	wiped_free(old);
	return bytes;
}

static void
wiped_free(void *p)
{
	if (p == NULL)
		return;
	struct block *const b = (struct block *)((char *)p - offsetof(struct block, bytes));
	explicit_bzero(b->bytes, b->size);
	free(b);
}
