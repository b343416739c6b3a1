/*
 * actors/capa-annotator/xml_reader.h - reads XML as it arrives, by a table of paths, with limits.
 *
 *	static const struct xml_row rows[] = {
 *		{ "Response/Errors/Error/Code", ERROR_CODE, 128, XML_TEXT },
 *		{ "Answer/set/item",            ITEM_END,   0,   XML_END },
 *	};
 *	struct xml_reader *r = xml_reader_new(rows, NITEMS(rows), on_value, arg);
 *
 *	while (more) xml_reader_feed(r, bytes, len);
 *	if (!xml_reader_end(r))
 *		log xml_reader_error(r): "Answer/set/item/count: not a number"
 *	xml_reader_free(&r);
 *
 * Rules (contract A7)
 * - A path is matched whole, by local names: "memoryInfo/sizeInMiB" occurs at several depths. What no row
 *   names is skipped.
 * - A document type declaration is refused where it begins, so there is no entity to expand.
 * - The first error stays, and nothing is handed over after it. Its text has names and places of elements
 *   that a row names, never bytes of the document: those may be a secret.
 * - All memory that held bytes of the document is overwritten before it is freed.
 */
#ifndef MUSTER_XML_READER_H
#define MUSTER_XML_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	XML_BYTES_MAX = 16 * 1024 * 1024,	/* of one document */
	XML_DEPTH_MAX = 64,
	XML_PATH_MAX  = 1024,
	XML_ERROR_MAX = 256,
};

enum xml_want {
	XML_TEXT,	/* its text, when it ends; longer than the limit is an error */
	XML_TEXT_CUT,	/* the same; longer text is cut between characters */
	XML_END,	/* that it ended; the text is "" */
};

struct xml_row {
	const char	*path;		/* local names from the root, separated by "/" */
	int		 id;		/* the caller's */
	size_t		 max;		/* bytes of text */
	enum xml_want	 want;
};

/* One value. text is NUL-terminated (XML has no NUL of its own) and valid until the handler returns. */
typedef void xml_handler(void *arg, const struct xml_row *row, const char *text, size_t len);

struct xml_reader;

/* rows must outlive the reader. */
struct xml_reader *xml_reader_new(const struct xml_row *rows, size_t nrows, xml_handler *handler, void *arg);
void xml_reader_free(struct xml_reader **rp);
/* False: an error. */
bool xml_reader_feed(struct xml_reader *r, const void *bytes, size_t len);
/* The document is over. False: an error, also when it is cut. */
bool xml_reader_end(struct xml_reader *r);
/* A handler's own check failed at this row: "path: cause". Nothing more is handed over. */
void xml_reader_fail(struct xml_reader *r, const struct xml_row *row, const char *cause);
const char *xml_reader_error(const struct xml_reader *r);	/* "": none */

#endif
