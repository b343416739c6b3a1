/*
 * tests/real/projection.c - muster-test-projection KIND VERSION object|list|watch json|proto FILE:
 * what kube-watcher would make of an answer, one line per object, for test_projection.py to
 * compare.
 *
 *	ADDED shop/web-0 uid rv test-kube-1=93a0...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/splitter_private.h"
#include "kube/status.h"
#include "obj.h"

struct job {
	struct projection	*projection;
	enum project_form	 form;
	bool			 watch;
};

static enum kind
kind_named(const char *name)
{
	for (unsigned k = 0; k < KIND_MAX; k++) {
		/* One that is read live only has another projection of the same objects. */
		if (kind_table[k].form != FORM_LIVE && strcmp(kind_table[k].kind, name) == 0)
			return (enum kind)k;
	}
	fprintf(stderr, "no kind %s\n", name);
	exit(2);
}

static bool
show_object(const struct job *job, const char *type, const void *bytes, size_t len, size_t padding)
{
	struct projected out;

	if (!project(job->projection, job->form, bytes, len, padding, &out)) {
		fprintf(stderr, "%s %s refused: %s\n", type, out.name, out.error);
		return false;
	}
	printf("%s %s/%s %s %s", type, out.ns, out.name, out.uid, out.rv);
	for (size_t i = 0; i < out.nvalues; i++) {
		printf(" %s=", role_name(out.values[i].role));
		for (size_t b = 0; b < out.values[i].len; b++)
			printf("%02x", out.values[i].bytes[b]);
	}
	printf("\n");
	return true;
}

static bool
show_event(const void *bytes, size_t len, void *arg)
{
	static const char *const names[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "UNKNOWN" };
	const struct job *job = arg;
	struct watch_event e;
	struct kube_status status;
	char text[100];
	bool end;

	if (!job->watch)
		return show_object(job, "ITEM", bytes, len, PROJECT_PADDING);
	const char *const wrong = watch_event_open(job->form, bytes, len, PROJECT_PADDING, &e);
	if (wrong != NULL) {
		fprintf(stderr, "not an event: %s\n", wrong);
		return false;
	}
	if (e.type < WATCH_BOOKMARK)
		return show_object(job, names[e.type], e.object, e.len, e.padding);
	if (e.type == WATCH_BOOKMARK) {
		if (!watch_bookmark(job->form, e.object, e.len, text, sizeof(text), &end))
			return false;
		printf("BOOKMARK %s %s\n", text, end ? "end" : "");
		return true;
	}
	status_read(&status, 0, e.object, e.len);
	printf("%s %d %s %s\n", names[e.type], status.code, status.reason, status.message);
	return true;
}

static char *
read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	size_t n;

	if (f == NULL) {
		perror(path);
		exit(2);
	}
	*len = 0;
	do {
		bytes = obj_realloc(bytes, *len + 65536);
		n = fread(bytes + *len, 1, 65536, f);
		*len += n;
	} while (n > 0);
	fclose(f);
	return bytes;
}

/* In chunks of a size that curl never gives, so that pieces are cut. */
static bool
show_stream(struct job *job, const char *bytes, size_t len)
{
	struct splitter *c = splitter_new(job->watch ? SPLIT_WATCH : SPLIT_LIST, job->form, show_event, job);
	bool ok = true;

	for (size_t at = 0; ok && at < len; at += 1000)
		ok = splitter_feed(c, bytes + at, len - at < 1000 ? len - at : 1000);
	ok = splitter_end(c);
	if (!ok)
		fprintf(stderr, "%s\n", splitter_error(c));
	else if (!job->watch)
		printf("LIST %s %zu %s\n", splitter_list_rv(c), c->items, splitter_list_continue(c));
	splitter_free(&c);
	return ok;
}

int
main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: %s KIND VERSION object|list|watch json|proto FILE\n", argv[0]);
		return 2;
	}
	struct job job = {
		.projection = projection_new(kind_named(argv[1]), argv[2], UINT64_MAX),
		.form = strcmp(argv[4], "proto") == 0 ? PROJECT_PROTO : PROJECT_JSON,
		.watch = strcmp(argv[3], "watch") == 0,
	};
	size_t len;
	char *bytes = read_file(argv[5], &len);
	const bool ok = strcmp(argv[3], "object") == 0 ? show_object(&job, "OBJECT", bytes, len, 0)
						      : show_stream(&job, bytes, len);

	free(bytes);
	projection_free(&job.projection);
	return ok ? 0 : 1;
}
