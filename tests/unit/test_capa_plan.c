/* tests/unit/test_capa_plan.c - the plan for a MachineDeployment: FR1 to FR7, TR3, TR4, F1 to F3, F8, F9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/capa.h"
#include "obj.h"

/*
 * Inputs in words, "field=value"; what no word names is as it should be: team-a/t1 is an AWSMachineTemplate
 * of m5.large in eu-west-1, the role is of the partition aws, and the catalogue has the type.
 * Annotations: "KEY=value", changes: "KEY=value" or "KEY-".
 */
#define RIGHT	"VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=kubernetes.io/arch=amd64"
#define GPUS	"figures=48/196608/4/0/1"	/* vCPUs, MiB, GPUs, arch, maker */
#define GAUDI	"figures=96/786432/8/0/3"

static const struct row {
	const char	*name, *input, *current;
	enum capa_verb	 want;
	enum capa_event	 event;
	const char	*message, *changes;
} rows[] = {
	/* FR6, F1: what is written */
	{ "FR6.1 FR6.2 FR6.3 FR6.4 FR6.6 F1 no annotation yet: all of ours", "", "", CAPA_PATCH, 0,
	    "the annotations differ: m5.large in eu-west-1", RIGHT },
	{ "F1 all right: not a single write", "", RIGHT, CAPA_NOTHING, 0, "the annotations are right: m5.large in eu-west-1", "" },
	{ "F1 only what differs is patched", "",
	    "VCPU=4 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8Gi LABELS=kubernetes.io/arch=amd64",
	    CAPA_PATCH, 0, NULL, "VCPU=2 MEMORY=8192Mi" },
	{ "F9 a refreshed catalogue that changes figures is written", "figures=4/8192/0/0/0", RIGHT, CAPA_PATCH, 0, NULL, "VCPU=4 CPU=4" },
	{ "F1 GPUs: the pair beside machine.openshift.io/GPU", GPUS, "", CAPA_PATCH, 0, NULL,
	    "VCPU=48 MEMORY_MB=196608 GPU=4 CPU=48 MEMORY=196608Mi "
	    "GPU_COUNT=4 GPU_TYPE=nvidia.com/gpu LABELS=kubernetes.io/arch=amd64" },
	{ "F1 GPUs of AMD", "figures=2/8192/1/0/2", RIGHT, CAPA_PATCH, 0, NULL, "GPU=1 GPU_COUNT=1 GPU_TYPE=amd.com/gpu" },
	{ "F1 no GPU any more: the pair is removed, FR6.3 \"0\" stays", "",
	    RIGHT " GPU_COUNT=4 GPU_TYPE=nvidia.com/gpu",
	    CAPA_PATCH, 0, NULL, "GPU_COUNT- GPU_TYPE-" },
	{ "F1 half a pair is removed, too", "", RIGHT " GPU_COUNT=0", CAPA_PATCH, 0, NULL, "GPU_COUNT-" },
	{ "F9 GPUs of another maker: the pair is left out", GAUDI, "", CAPA_PATCH, 0, NULL,
	    "VCPU=96 MEMORY_MB=786432 GPU=8 CPU=96 MEMORY=786432Mi LABELS=kubernetes.io/arch=amd64" },
	{ "F9 ... and one of ours is removed", "figures=2/8192/8/0/3",
	    "VCPU=2 MEMORY_MB=8192 GPU=8 CPU=2 MEMORY=8192Mi LABELS=kubernetes.io/arch=amd64 "
	    "GPU_COUNT=4 GPU_TYPE=nvidia.com/gpu",
	    CAPA_PATCH, 0, NULL, "GPU_COUNT- GPU_TYPE-" },
	{ "F9 ... and one that somebody else wrote stays", "figures=2/8192/8/0/3",
	    "VCPU=2 MEMORY_MB=8192 GPU=8 CPU=2 MEMORY=8192Mi LABELS=kubernetes.io/arch=amd64 "
	    "GPU_COUNT=8 GPU_TYPE=habana.ai/gaudi",
	    CAPA_NOTHING, 0, NULL, "" },
	{ "FR5.3 arm64", "figures=2/8192/0/1/0", RIGHT, CAPA_PATCH, 0, NULL, "LABELS=kubernetes.io/arch=arm64" },

	/* FR6.5, F1: labels */
	{ "FR6.4 FR6.5 existing labels are kept, ours comes last", "", "LABELS=b=2,a=1", CAPA_PATCH, 0, NULL,
	    "VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=b=2,a=1,kubernetes.io/arch=amd64" },
	{ "F1 ours is replaced in its place: the order is stable", "",
	    "VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=b=2,kubernetes.io/arch=arm64,a=1",
	    CAPA_PATCH, 0, NULL, "LABELS=b=2,kubernetes.io/arch=amd64,a=1" },
	{ "F1 ours in any place is right", "",
	    "VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=b=2,kubernetes.io/arch=amd64,a=1",
	    CAPA_NOTHING, 0, NULL, "" },
	{ "F1 ours twice: the autoscaler takes the last, so one is left", "",
	    "VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=kubernetes.io/arch=amd64,a=1,"
	    "kubernetes.io/arch=arm64",
	    CAPA_PATCH, 0, NULL, "LABELS=kubernetes.io/arch=amd64,a=1" },
	{ "F1 a label whose key only begins like ours", "", RIGHT ",kubernetes.io/archive=x", CAPA_NOTHING, 0, NULL, "" },
	{ "F1 an entry without a value is somebody else's", "", RIGHT ",kubernetes.io/arch", CAPA_NOTHING, 0, NULL, "" },
	{ "F1 a value with = in it", "", RIGHT ",a=b=c", CAPA_NOTHING, 0, NULL, "" },
	{ "F1 empty entries go", "", RIGHT ",,a=1,", CAPA_PATCH, 0, NULL, "LABELS=kubernetes.io/arch=amd64,a=1" },
	{ "F1 an empty annotation", "", "VCPU=2 MEMORY_MB=8192 GPU=0 CPU=2 MEMORY=8192Mi LABELS=",
	    CAPA_PATCH, 0, NULL, "LABELS=kubernetes.io/arch=amd64" },

	/* FR1: whom */
	{ "FR1.4 being deleted", "deleting=yes", "", CAPA_NOTHING, 0, "it is being deleted", "" },
	{ "FR1.4 being deleted with a bad reference: no Event", "deleting=yes ref.name=", "", CAPA_NOTHING, 0, NULL, "" },
	{ "F9 without scaling bounds all the same", "", "", CAPA_PATCH, 0, NULL, RIGHT },
	{ "before the first snapshot nothing is decided", "synced=no", "", CAPA_WAIT, 0, NULL, "" },
	{ "another leads: no write", "leading=no", "", CAPA_WAIT, 0, NULL, "" },
	{ "another leads: no Event", "leading=no template=absent", "", CAPA_WAIT, 0, NULL, "" },
	{ "another leads: no call", "leading=no answer=none", "", CAPA_WAIT, 0, NULL, "" },

	/* FR2, TR3: the template */
	{ "FR2.6 TR3 no infrastructureRef", "ref.name= ref.kind= ref.group=", "", CAPA_WARN,
	    CAPA_RECONCILE_ERROR,
	    "infrastructureRef is missing or has no name", "" },
	{ "FR2.3 FR2.6 TR3 another kind", "ref.kind=DockerMachineTemplate", "", CAPA_WARN,
	    CAPA_RECONCILE_ERROR,
	    "infrastructureRef does not name an AWSMachineTemplate: DockerMachineTemplate/t1", "" },
	{ "FR2.3 another group", "ref.group=example.com", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },
	{ "FR2.3 no group", "ref.group=", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },
	{ "F2 FR2.1 a v1beta1 reference", "ref.group= ref.api=infrastructure.cluster.x-k8s.io/v1beta2", RIGHT, CAPA_NOTHING, 0, NULL, "" },
	{ "F2 the version does not count", "ref.group= ref.api=infrastructure.cluster.x-k8s.io/v1beta1", RIGHT, CAPA_NOTHING, 0, NULL, "" },
	{ "FR2.5 FR7.2 FR7.4 F9 no such template", "template=absent", RIGHT, CAPA_WARN, CAPA_RECONCILE_ERROR,
	    "the AWSMachineTemplate does not exist: team-a/t1", "" },
	{ "TR3 the namespace of the reference", "template=absent ref.ns=other", "", CAPA_WARN,
	    CAPA_RECONCILE_ERROR,
	    "the AWSMachineTemplate does not exist: other/t1", "" },
	{ "F2 templates are not listed yet: no Event", "template=unread", "", CAPA_WAIT, 0,
	    "the AWSMachineTemplates are not listed yet: team-a/t1", "" },
	{ "templates may not be read", "template=forbidden", "", CAPA_WARN, CAPA_RECONCILE_ERROR,
	    "reading AWSMachineTemplates is forbidden: team-a/t1", "" },
	{ "FR2.4 TR3 a template without a type", "type=", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },

	/* FR3, TR4: the region */
	{ "FR3.1 TR4 the region of the AWSCluster before the annotation",
	    "answer=none annotation=us-east-1", "", CAPA_FIND, 0,
	    "the catalogue of the region is needed: m5.large in eu-west-1", "" },
	{ "FR3.2 TR4 no AWSCluster: the annotation",
	    "answer=none region.object=absent annotation=us-east-1", "", CAPA_FIND, 0,
	    "the catalogue of the region is needed: m5.large in us-east-1", "" },
	{ "FR3.2 the AWSCluster may not be read: the annotation",
	    "answer=none region.object=forbidden annotation=us-east-1", "", CAPA_FIND, 0,
	    "the catalogue of the region is needed: m5.large in us-east-1", "" },
	{ "FR3.2 no Cluster: the annotation",
	    "answer=none cluster=absent region.object=absent annotation=us-east-1", "", CAPA_FIND, 0,
	    NULL, "" },
	{ "TR4 an AWSCluster without a region: the annotation", "answer=none region= annotation=us-east-1", "", CAPA_FIND, 0, NULL, "" },
	{ "TR4 no clusterName: the annotation, and nothing to wait for",
	    "answer=none cluster.name= cluster=unread region.object=absent annotation=us-east-1", "",
	    CAPA_FIND, 0, NULL, "" },
	{ "FR3.3 F9 no region at all", "region.object=absent", RIGHT, CAPA_WARN, CAPA_RECONCILE_ERROR,
	    "neither Cluster nor annotation leads to a region: team-a/c1", "" },
	{ "F2 Clusters are not listed yet: the annotation waits",
	    "cluster=unread region.object=absent annotation=us-east-1", "", CAPA_WAIT, 0, NULL, "" },
	{ "F2 AWSClusters are not listed yet", "region.object=unread", "", CAPA_WAIT, 0, NULL, "" },
	{ "a region that is no host name: no call", "region=evil.example/ answer=none", "", CAPA_WARN,
	    CAPA_RECONCILE_ERROR,
	    "this is not the name of an AWS region: evil.example/", "" },
	{ "a region with a blank line in the annotation", "region.object=absent annotation=eu-west-1\n",
	    "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },
	{ "F9 a region of another partition: no call, nothing written", "region=cn-north-1 answer=none",
	    RIGHT, CAPA_WARN, CAPA_RECONCILE_ERROR,
	    "the region is in another partition than the role: cn-north-1", "" },
	{ "F9 a role of another partition", "partition=aws-us-gov answer=none", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },
	{ "F6 role and region of GovCloud", "partition=aws-us-gov region=us-gov-west-1 answer=none", "", CAPA_FIND, 0, NULL, "" },

	/* FR4, FR7, F3: the catalogue */
	{ "the catalogue is asked when all else is decided", "answer=none", "", CAPA_FIND, 0, NULL, "" },
	{ "F3 FR7.3 EC2 fails: neither unknown nor written", "answer=failed", "", CAPA_WAIT, 0,
	    "the instance types of the region could not be read: m5.large in eu-west-1", "" },
	{ "the pages are being read", "answer=waiting", "", CAPA_WAIT, 0, NULL, "" },
	{ "FR7.1 FR7.4 F9 an unknown type", "type=m5.huge answer=unknown", RIGHT, CAPA_WARN,
	    CAPA_FAILED_UPDATE,
	    "unknown instance type: m5.huge in eu-west-1", "" },
	{ "F8 the type that was unknown is there", "type=m5.huge", "", CAPA_PATCH, 0, NULL, RIGHT },
	{ "a type without vCPUs: nothing wrong is written", "figures=0/8192/0/0/0", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },
	{ "a type without memory", "figures=2/0/0/0/0", "", CAPA_WARN, CAPA_RECONCILE_ERROR, NULL, "" },

	/* Writes that were refused */
	{ "refused: not again", "refused=yes", "", CAPA_WAIT, 0, NULL, "" },
	{ "not allowed: after a while", "hold=500", "", CAPA_WAIT, 0, NULL, "" },
	{ "not allowed, but all is right", "hold=500 refused=yes", RIGHT, CAPA_NOTHING, 0, NULL, "" },
};

/* ---- Words to inputs ---- */

static const char *const key_ids[CAPA_KEY_MAX] = {
#define KEY_ID(ID, key) [CAPA_KEY_##ID] = #ID,
	CAPA_KEYS(KEY_ID)
};

static enum capa_presence
presence_of(const char *text)
{
	static const char *const names[] = {
		[CAPA_ABSENT] = "absent", [CAPA_UNREAD] = "unread", [CAPA_FORBIDDEN] = "forbidden",
		[CAPA_PRESENT] = "present",
	};
	unsigned p = 0;

	while (p < NITEMS(names) && strcmp(names[p], text) != 0)
		p++;
	MUST(p < NITEMS(names));
	return (enum capa_presence)p;
}

static void
set_answer(struct capa_input *s, const char *text)
{
	static const char *const names[] = {
		[CATALOGUE_KNOWN] = "known", [CATALOGUE_UNKNOWN] = "unknown", [CATALOGUE_WAITING] = "waiting",
		[CATALOGUE_FAILED] = "failed",
	};

	s->found = false;
	s->type = (struct instance_type){ 0 };
	for (unsigned a = 0; a < NITEMS(names); a++) {
		if (strcmp(names[a], text) == 0) {
			s->found = true;
			s->answer = (enum catalogue_answer)a;
		}
	}
	MUST(s->found || strcmp(text, "none") == 0);
}

static void
set_figures(struct capa_input *s, const char *text)
{
	unsigned v[5];

	MUST(sscanf(text, "%u/%u/%u/%u/%u", &v[0], &v[1], &v[2], &v[3], &v[4]) == 5);
	s->type = (struct instance_type){ v[0], v[1], v[2], (uint8_t)v[3], (uint8_t)v[4] };
}

static void
set_partition(struct capa_input *s, const char *text)
{
	unsigned p = 0;

	while (p < AWS_PARTITION_MAX && strcmp(aws_partition_name((enum aws_partition)p), text) != 0)
		p++;
	s->partition = (enum aws_partition)p;
}

static void
edit(struct capa_input *s, char *word)
{
	char *const value = strchr(word, '=') + 1;
	const struct wire_str v = wire_str_of(value);
	const struct {
		const char	*name;
		struct wire_str	*text;
	} texts[] = {
		{ "ref.kind", &s->infrastructure.kind }, { "ref.group", &s->infrastructure.api_group },
		{ "ref.api", &s->infrastructure.api_version }, { "ref.name", &s->infrastructure.name },
		{ "ref.ns", &s->infrastructure.namespace }, { "type", &s->instance_type },
		{ "region", &s->region }, { "annotation", &s->region_annotation }, { "cluster.name", &s->cluster_name },
	};
	const struct {
		const char		*name;
		enum capa_presence	*presence;
	} presences[] = {
		{ "template", &s->template }, { "cluster", &s->cluster },
		{ "region.object", &s->region_object },
	};
	const struct {
		const char	*name;
		bool		*flag;
	} flags[] = {
		{ "synced", &s->synced }, { "leading", &s->leading }, { "refused", &s->refused }, { "deleting", &s->deleting },
	};
	unsigned done = 0;

	value[-1] = '\0';
	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (strcmp(word, texts[i].name) == 0 && ++done)
			*texts[i].text = v;
	}
	for (size_t i = 0; i < NITEMS(presences); i++) {
		if (strcmp(word, presences[i].name) == 0 && ++done)
			*presences[i].presence = presence_of(value);
	}
	for (size_t i = 0; i < NITEMS(flags); i++) {
		if (strcmp(word, flags[i].name) == 0 && ++done)
			*flags[i].flag = strcmp(value, "yes") == 0;
	}
	if (strcmp(word, "hold") == 0 && ++done)
		s->hold_ms = atoi(value);
	if (strcmp(word, "answer") == 0 && ++done)
		set_answer(s, value);
	if (strcmp(word, "figures") == 0 && ++done)
		set_figures(s, value);
	if (strcmp(word, "partition") == 0 && ++done)
		set_partition(s, value);
	assert_int_equal(done, 1);
}

static void
set_current(struct capa_input *s, char *words)
{
	for (char *word; (word = strtok_r(words, " ", &words)) != NULL;) {
		const size_t id_len = strcspn(word, "=");
		unsigned k = 0;

		while (k < CAPA_KEY_MAX
		    && (strlen(key_ids[k]) != id_len || strncmp(word, key_ids[k], id_len) != 0))
			k++;
		MUST(k < CAPA_KEY_MAX);
		s->current[k] = wire_str_of(word + id_len + 1);
	}
}

static void
print_changes(const struct capa_annotations *a, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned k = 0; a->changes > 0 && k < CAPA_KEY_MAX; k++) {
		const char *const space = len > 0 ? " " : "";

		if (a->change[k] == CAPA_SET)
			len += (size_t)snprintf(buf + len, size - len, "%s%s=%.*s", space, key_ids[k],
			    (int)a->value[k].len, a->value[k].p);
		else if (a->change[k] == CAPA_REMOVE)
			len += (size_t)snprintf(buf + len, size - len, "%s%s-", space, key_ids[k]);
	}
}

static void
check_row(void **state)
{
	static struct capa_plan p;
	const struct row *const r = *state;
	char words[1024], current[1024], changes[1024], *rest = words;
	struct capa_input s = {
		.synced = true, .leading = true, .namespace = wire_str_of("team-a"),
		.cluster_name = wire_str_of("c1"),
		.infrastructure = { .api_group = wire_str_of("infrastructure.cluster.x-k8s.io"),
			.kind = wire_str_of("AWSMachineTemplate"), .name = wire_str_of("t1") },
		.template = CAPA_PRESENT, .cluster = CAPA_PRESENT, .region_object = CAPA_PRESENT,
		.instance_type = wire_str_of("m5.large"), .region = wire_str_of("eu-west-1"),
		.partition = AWS_COMMERCIAL,
		.found = true, .answer = CATALOGUE_KNOWN, .type = { .vcpus = 2, .memory_mib = 8192 },
	};

	MUST((size_t)snprintf(words, sizeof(words), "%s", r->input) < sizeof(words));
	MUST((size_t)snprintf(current, sizeof(current), "%s", r->current) < sizeof(current));
	for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
		edit(&s, word);
	set_current(&s, current);
	capa_plan(&s, &p);
	assert_string_equal(capa_verb_name(p.verb), capa_verb_name(r->want));
	assert_string_equal(capa_event_reason(p.event), capa_event_reason(r->event));
	assert_int_equal(p.verb == CAPA_WARN, p.event != CAPA_EVENT_NONE);
	assert_memory_equal(p.message, p.why, strlen(p.why));
	if (r->message != NULL)
		assert_string_equal(p.message, r->message);
	print_changes(&p.annotations, changes, sizeof(changes));
	assert_string_equal(changes, r->changes);
	assert_int_equal(p.after_ms, p.verb == CAPA_WAIT && !s.refused ? s.hold_ms : 0);
}

static void
messages_are_cut_between_characters(void **state)
{
	static struct capa_plan p;
	char region[1200];
	struct capa_input s = { .synced = true, .leading = true, .template = CAPA_PRESENT,
		.instance_type = wire_str_of("m5.large"),
		.infrastructure = { .api_group = wire_str_of("infrastructure.cluster.x-k8s.io"),
			.kind = wire_str_of("AWSMachineTemplate"), .name = wire_str_of("t1") } };

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(region); i += 2)
		memcpy(region + i, "\xc3\xa9", 2);
	s.region_annotation = (struct wire_str){ .p = region, .len = sizeof(region) };
	capa_plan(&s, &p);
	assert_int_equal(p.verb, CAPA_WARN);
	const size_t len = strlen(p.message);
	assert_in_range(len, CAPA_MESSAGE_MAX - 3, CAPA_MESSAGE_MAX - 1);
	assert_int_equal((unsigned char)p.message[len - 1], 0xa9);
}

static void
f1_labels_that_do_not_fit_stay(void **state)
{
	static struct capa_plan p;
	static char labels[CAPA_LABELS_MAX];
	struct capa_input s = { .synced = true, .leading = true, .template = CAPA_PRESENT, .found = true,
		.instance_type = wire_str_of("m5.large"), .region_annotation = wire_str_of("eu-west-1"),
		.type = { .vcpus = 2, .memory_mib = 8192 },
		.infrastructure = { .api_group = wire_str_of("infrastructure.cluster.x-k8s.io"),
			.kind = wire_str_of("AWSMachineTemplate"), .name = wire_str_of("t1") } };

	(void)state;
	memset(labels, 'x', sizeof(labels));
	s.current[CAPA_KEY_LABELS] = (struct wire_str){ .p = labels, .len = sizeof(labels) };
	capa_plan(&s, &p);
	assert_int_equal(p.verb, CAPA_WARN);
	assert_string_equal(p.message, "the annotation for labels is too long");
	s.current[CAPA_KEY_LABELS].len = 9;
	capa_plan(&s, &p);
	assert_int_equal(p.verb, CAPA_PATCH);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(messages_are_cut_between_characters);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(f1_labels_that_do_not_fit_stay);
	return cmocka_run_group_tests_name("capa_plan", tests, NULL, NULL);
}
