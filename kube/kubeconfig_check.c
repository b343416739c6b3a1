/* kube/kubeconfig_check.c - texts of a kubeconfig that go into a URL or a header. */
#include <stdlib.h>
#include <string.h>

#include "kubeconfig_private.h"
#include "obj.h"

static bool is_scheme(const char *, const char *);
static const char *authority_fault(const char *, size_t);
static bool is_port(const char *, size_t);

/* A server without a scheme is what client-go makes of it: https where TLS is configured. */
char *
kubeconfig_server(const char *text, bool tls, const char **why)
{
	const bool https = is_scheme(text, "https://"), http = is_scheme(text, "http://");
	const char *const rest = https ? text + 8 : http ? text + 7 : text;
	size_t len = strlen(rest);
	char *url = NULL;

	*why = NULL;
	if (!http && !https && strstr(text, "://") != NULL)
		*why = "only http and https are spoken";
	else if (strpbrk(rest, "?#") != NULL)
		*why = "a server has no query and no fragment";
	else if (!kubeconfig_token_valid(text, strlen(text)))
		*why = "a URL has no blanks and only ASCII";
	else
		*why = authority_fault(rest, strcspn(rest, "/"));
	if (*why != NULL)
		return NULL;
	while (len > 0 && rest[len - 1] == '/')
		len--;
	const char *const scheme = https || (!http && tls) ? "https://" : "http://";
	MUST(asprintf(&url, "%s%.*s", scheme, (int)len, rest) != -1);
	return url;
}

/* May hold a password: the text is not in the error. */
const char *
kubeconfig_proxy_fault(const char *url)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://" };

	for (size_t i = 0; i < NITEMS(schemes); i++) {
		if (is_scheme(url, schemes[i])) {
			const char *host = url + strlen(schemes[i]);
			const char *const at = strchr(host, '@');

			if (!kubeconfig_token_valid(url, strlen(url)))
				return "a URL has no blanks and only ASCII";
			host = at == NULL ? host : at + 1;
			return authority_fault(host, strcspn(host, "/?#"));
		}
	}
	return "it begins with http://, https:// or socks5://";
}

bool
kubeconfig_token_valid(const char *token, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (token[i] <= ' ' || token[i] > '~')
			return false;
	}
	return len > 0;
}

static bool
is_scheme(const char *url, const char *scheme)
{
	return strncasecmp(url, scheme, strlen(scheme)) == 0;
}

/* host, host:port, [IPv6] or [IPv6]:port. */
static const char *
authority_fault(const char *s, size_t len)
{
	const char *const bracket = len > 0 && s[0] == '[' ? memchr(s, ']', len) : NULL;
	const char *const host_end = bracket != NULL ? bracket + 1 : s + strcspn(s, ":/?#");
	const size_t host = (size_t)(host_end - s) < len ? (size_t)(host_end - s) : len;

	if (memchr(s, '@', len) != NULL)
		return "it names a user; users stand in their own section";
	if (host == 0 || (s[0] == '[' && bracket == NULL))
		return "it has no host";
	if (host < len && (s[host] != ':' || !is_port(s + host + 1, len - host - 1)))
		return "its port is not a number from 1 to 65535";
	return NULL;
}

static bool
is_port(const char *s, size_t len)
{
	long port = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || i == 5)
			return false;
		port = port * 10 + (s[i] - '0');
	}
	return port >= 1 && port <= 65535;
}
