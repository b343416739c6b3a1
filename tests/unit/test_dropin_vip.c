/* tests/unit/test_dropin_vip.c - the flags of capi-vip-allocator as a configuration: V6, V9. */
#include "dropin_rows.h"

#define VIP	"vip-claimer"

static const struct dropin_row rows[] = {
	{ "the defaults of the original", { NULL }, DROPIN_RUN, NULL, {
	    { PAGE, "metrics-bind-address", ":8080" }, { PAGE, "health-probe-bind-address", ":8081" },
	    { VIP, "hook-bind-address", ":9443" }, { VIP, "default-port", "6443" },
	    { VIP, "extension-name", "vip-allocator" }, { VIP, "enable-runtime-extension", "true" },
	    { VIP, "tls-dir", "/tmp/runtime-extension/serving-certs" },
	    { WATCHER, "leader-elect", "false" } } },
	{ "the Lease of the original", { "--leader-elect" }, DROPIN_RUN, NULL, {
	    { WATCHER, "leader-elect", "true" },
	    { WATCHER, "lease-name", "capi-vip-allocator.gorizond.io" } } },
	{ "another port, name and endpoint port",
	    { "--runtime-extension-port=9444", "--runtime-extension-name", "vip", "--default-port=8443" },
	    DROPIN_RUN, NULL, {
	    { VIP, "hook-bind-address", ":9444" }, { VIP, "extension-name", "vip" },
	    { VIP, "default-port", "8443" } } },
	{ "V6 E6 without the hooks", { "--enable-runtime-extension=false", "--enable-reconciler" },
	    DROPIN_RUN, NULL, { { VIP, "enable-runtime-extension", "false" } } },
	{ "another folder of the certificate", { "--tls-dir=/etc/tls" }, DROPIN_RUN, NULL,
	    { { VIP, "tls-dir", "/etc/tls" } } },
	{ "the log of zap", { "--zap-devel" }, DROPIN_RUN, NULL,
	    { { "supervisor", "log-level", "debug" }, { "supervisor", "log-format", "console" } } },
	{ "a level of zap", { "--zap-log-level=2" }, DROPIN_RUN, NULL,
	    { { "supervisor", "log-level", "debug" }, { "supervisor", "log-format", "json" } } },
	{ "a port that is none", { "--runtime-extension-port=hooks" }, 2,
	    "invalid value \"hooks\" for flag -runtime-extension-port", { { NULL } } },
	{ "a port that is too large", { "--runtime-extension-port=65536" }, 2,
	    "invalid value \"65536\" for flag -runtime-extension-port", { { NULL } } },
	{ "an endpoint port that is none", { "--default-port=0" }, 2,
	    "invalid value \"0\" for flag -default-port", { { NULL } } },
	{ "V1 a name with a dot, which the original does not refuse", { "--runtime-extension-name=a.b" }, 2,
	    "invalid value \"a.b\" for flag -runtime-extension-name", { { NULL } } },
	{ "an unknown flag, and usage follows", { "--colour" }, 2,
	    "Usage of capi-vip-allocator:\n  -metrics-bind-address string\n", { { NULL } } },
};

int
main(void)
{
	return dropin_rows_run(&dropin_vip_allocator, VIP, rows, NITEMS(rows));
}
