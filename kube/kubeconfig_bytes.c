/* kube/kubeconfig_bytes.c - secret bytes: owned, read, decoded, wiped. */
#include "kubeconfig_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj.h"

static bool read_all(int, size_t, struct bytes *);

void
bytes_set(struct bytes *b, const void *data, size_t len)
{
	char *const copy = obj_alloc(len + 1);

	memcpy(copy, data, len);
	bytes_wipe(b);
	*b = (struct bytes){ copy, len };
}

void
bytes_take(struct bytes *b, struct bytes *from)
{
	bytes_wipe(b);
	*b = *from;
	*from = (struct bytes){ NULL, 0 };
}

void
bytes_wipe(struct bytes *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->len);
	free(b->data);
	*b = (struct bytes){ NULL, 0 };
}

bool
bytes_equal(const struct bytes *a, const struct bytes *b)
{
	if (a->data == NULL || b->data == NULL)
		return a->data == b->data;
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

void
bytes_wipe_text(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

/* O_NONBLOCK: somebody may have put a pipe there, whose writer never comes. */
bool
bytes_read_file(struct bytes *b, const char *path, size_t max)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct bytes got = { NULL, 0 };
	struct stat st;
	int saved_errno = 0;

	if (fd == -1)
		return false;
	if (fstat(fd, &st) == -1)
		saved_errno = errno;
	else if (!S_ISREG(st.st_mode))
		saved_errno = EINVAL;
	else if (!read_all(fd, max, &got))
		saved_errno = errno;
	close(fd);
	errno = saved_errno;
	if (saved_errno == 0)
		bytes_take(b, &got);
	bytes_wipe(&got);
	return saved_errno == 0;
}

bool
bytes_from_base64(struct bytes *b, const char *text, size_t len)
{
	char *const packed = obj_alloc(len + 1);
	char *const out = obj_alloc(len / 4 * 3 + 4);
	size_t n = 0, pad = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\r' && text[i] != '\n')
			packed[n++] = text[i];
	}
	while (pad < 2 && pad < n && packed[n - 1 - pad] == '=')
		pad++;
	/* OpenSSL would skip blanks and take '=' anywhere. */
	bool ok = n % 4 == 0 && n <= INT_MAX && memchr(packed, '=', n - pad) == NULL
	    && packed[strcspn(packed, " \t\v\f")] == '\0';
	if (ok && n > 0)
		ok = EVP_DecodeBlock((unsigned char *)out, (unsigned char *)packed, (int)n) >= 0;
	if (ok)
		bytes_set(b, out, n / 4 * 3 - pad);
	explicit_bzero(out, len / 4 * 3 + 4);
	explicit_bzero(packed, n);
	free(out);
	free(packed);
	return ok;
}

void
bytes_to_base64(struct bytes *b, const void *data, size_t len)
{
	struct bytes out = { obj_alloc(len / 3 * 4 + 5), 0 };

	MUST(len < INT_MAX / 2);
	out.len = (size_t)EVP_EncodeBlock((unsigned char *)out.data, data, (int)len);
	bytes_take(b, &out);
}

/* Into room for all that is allowed, and one byte more; what is kept is as large as the file. */
static bool
read_all(int fd, size_t max, struct bytes *b)
{
	struct bytes room = { obj_alloc(max + 1), 0 };
	ssize_t n;

	do {
		n = read(fd, room.data + room.len, max + 1 - room.len);
		room.len += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && room.len <= max) || (n == -1 && errno == EINTR));
	const int saved_errno = room.len > max ? EFBIG : errno;
	const bool ok = n == 0 && room.len <= max;
	if (ok)
		bytes_set(b, room.data, room.len);
	bytes_wipe(&room);
	errno = saved_errno;
	return ok;
}
