/* tests/dst/runtime_files.c - the files that actors read in the simulation: those of credentials. */
#include <errno.h>
#include <string.h>

#include "kube/kubeconfig_bytes.h"
#include "runtime.h"

bool __real_bytes_read_file(struct bytes *b, const char *path, size_t max);
bool __wrap_bytes_read_file(struct bytes *b, const char *path, size_t max);

static runtime_file *files;
static void *whose;

void
runtime_set_files(runtime_file *read, void *world)
{
	files = read;
	whose = world;
}

bool
__wrap_bytes_read_file(struct bytes *b, const char *path, size_t max)
{
	const char *const text = files != NULL ? files(whose, path) : NULL;

	if (text == NULL || strlen(text) > max) {
		errno = text == NULL ? ENOENT : EFBIG;
		return false;
	}
	bytes_set(b, text, strlen(text));
	return true;
}
