/* actors/capa-annotator/annotations.c - the annotations of one MachineDeployment. Pure. */
#include "capa.h"

#include <string.h>

#include "json.h"
#include "obj.h"

#define ARCH_LABEL	"kubernetes.io/arch"

static const char *const keys[CAPA_KEY_MAX] = {
#define CAPA_KEY_ROW(ID, key) [CAPA_KEY_##ID] = key,
	CAPA_KEYS(CAPA_KEY_ROW)
#undef CAPA_KEY_ROW
};

static const char *const arch_labels[] = {
	[ARCH_AMD64] = ARCH_LABEL "=amd64", [ARCH_ARM64] = ARCH_LABEL "=arm64",
};

/* The resource that the device plugin of each maker offers; NULL: none that we have a name for. */
static const char *const gpu_types[] = {
	[GPU_NONE] = NULL, [GPU_NVIDIA] = "nvidia.com/gpu", [GPU_AMD] = "amd.com/gpu", [GPU_OTHER] = NULL,
};

static void set(struct capa_annotations *, const struct wire_str *, enum capa_key, struct wire_str);
static void set_number(
    struct capa_annotations *, const struct wire_str *, enum capa_key, uint32_t, const char *);
static void remove_key(struct capa_annotations *, const struct wire_str *, enum capa_key);
static bool is_our_gpu_type(struct wire_str);
static bool merge_labels(struct wire_str, struct wire_str, char *, struct wire_str *);
static bool is_arch_label(struct wire_str);
static bool put_label(char *, size_t *, struct wire_str);

const char *
capa_key_name(enum capa_key k)
{
	return (unsigned)k < CAPA_KEY_MAX ? keys[k] : "?";
}

bool
capa_annotations(const struct instance_type *type, const struct wire_str current[CAPA_KEY_MAX],
    struct capa_annotations *out)
{
	MUST(type->arch < NITEMS(arch_labels) && type->maker < NITEMS(gpu_types));
	const char *const gpu_type = gpu_types[type->maker];
	struct wire_str labels;

	memset(out->change, 0, sizeof(out->change));
	out->changes = 0;
	const struct wire_str arch = wire_str_of(arch_labels[type->arch]);
	if (!merge_labels(current[CAPA_KEY_LABELS], arch, out->labels, &labels))
		return false;
	set_number(out, current, CAPA_KEY_VCPU, type->vcpus, "");
	set_number(out, current, CAPA_KEY_MEMORY_MB, type->memory_mib, "");
	set_number(out, current, CAPA_KEY_GPU, type->gpus, "");
	set_number(out, current, CAPA_KEY_CPU, type->vcpus, "");
	set_number(out, current, CAPA_KEY_MEMORY, type->memory_mib, "Mi");
	if (type->gpus > 0 && gpu_type != NULL) {
		set_number(out, current, CAPA_KEY_GPU_COUNT, type->gpus, "");
		set(out, current, CAPA_KEY_GPU_TYPE, wire_str_of(gpu_type));
	} else if (type->gpus == 0 || is_our_gpu_type(current[CAPA_KEY_GPU_TYPE])) {
		remove_key(out, current, CAPA_KEY_GPU_COUNT);
		remove_key(out, current, CAPA_KEY_GPU_TYPE);
	}
	set(out, current, CAPA_KEY_LABELS, labels);
	return true;
}

size_t
capa_patch_body(char *buf, size_t size, const struct capa_annotations *a, struct wire_str resource_version)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	if (a->change[CAPA_KEY_LABELS] != CAPA_KEEP && resource_version.len > 0)
		json_strn(&j, "resourceVersion", resource_version.p, resource_version.len);
	json_open(&j, "annotations", '{');
	for (unsigned k = 0; k < CAPA_KEY_MAX; k++) {
		if (a->change[k] == CAPA_SET)
			json_strn(&j, keys[k], a->value[k].p, a->value[k].len);
		else if (a->change[k] == CAPA_REMOVE)
			json_str(&j, keys[k], NULL);
	}
	json_close(&j, '}');
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

static void
set(struct capa_annotations *out, const struct wire_str *current, enum capa_key k, struct wire_str value)
{
	out->value[k] = value;
	if (wire_str_compare(current[k], value) == 0)
		return;
	out->change[k] = CAPA_SET;
	out->changes++;
}

static void
set_number(struct capa_annotations *out, const struct wire_str *current, enum capa_key k, uint32_t n,
    const char *suffix)
{
	char *const text = out->numbers[k];
	const size_t suffix_len = strlen(suffix);
	size_t at = CAPA_NUMBER_MAX - suffix_len;

	memcpy(text + at, suffix, suffix_len);
	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	set(out, current, k, (struct wire_str){ .p = text + at, .len = (uint32_t)(CAPA_NUMBER_MAX - at) });
}

static void
remove_key(struct capa_annotations *out, const struct wire_str *current, enum capa_key k)
{
	if (current[k].p == NULL)
		return;
	out->change[k] = CAPA_REMOVE;
	out->changes++;
}

static bool
is_our_gpu_type(struct wire_str text)
{
	for (size_t i = 0; i < NITEMS(gpu_types); i++) {
		if (gpu_types[i] != NULL && wire_str_compare(text, wire_str_of(gpu_types[i])) == 0)
			return true;
	}
	return false;
}

/* ---- Labels ---- */

static bool
merge_labels(struct wire_str old, struct wire_str ours, char *buf, struct wire_str *out)
{
	size_t len = 0;
	bool placed = false;

	for (uint32_t at = 0; at < old.len;) {
		const char *const comma = memchr(old.p + at, ',', old.len - at);
		const uint32_t end = comma == NULL ? old.len : (uint32_t)(comma - old.p);
		struct wire_str entry = { .p = old.p + at, .len = end - at };

		at = end + 1;
		if (is_arch_label(entry)) {
			entry = placed ? (struct wire_str){ .len = 0 } : ours;
			placed = true;
		}
		if (!put_label(buf, &len, entry))
			return false;
	}
	if (!placed && !put_label(buf, &len, ours))
		return false;
	*out = (struct wire_str){ .p = buf, .len = (uint32_t)len };
	return true;
}

static bool
is_arch_label(struct wire_str entry)
{
	return entry.len >= sizeof(ARCH_LABEL) && memcmp(entry.p, ARCH_LABEL "=", sizeof(ARCH_LABEL)) == 0;
}

/* False: it does not fit. An empty entry is left out. */
static bool
put_label(char *buf, size_t *len, struct wire_str entry)
{
	if (entry.len == 0)
		return true;
	if (entry.len + 1 > CAPA_LABELS_MAX - *len)
		return false;
	if (*len > 0)
		buf[(*len)++] = ',';
	memcpy(buf + *len, entry.p, entry.len);
	*len += entry.len;
	return true;
}
