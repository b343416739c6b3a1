/*
 * sim/aws/sim_aws_types.c - makes some 800 instance types from a table of families.
 *
 * Names, ratios and sizes are those of real families, so that a reader sees what it will see: types without
 * GPUs, with GPUs of several makers, with a part of a GPU, with accelerators that are no GPUs, ARM, old ones
 * that list i386 first, Macs. A family that is not marked COMMON is missing in some regions.
 */
#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "sim_aws_private.h"

enum family_flag { COMMON = 1, OLD = 2, BURST = 4, DISK = 8, EFA = 16, ONE_THREAD = 32, PART = 64 };

enum { SIZE_MAX_TEXT = 24, GIB = 1024 };

/* x86_64, ARM, types that also run i386, and the two kinds of Macs. */
static const char *const architectures[][3] = {
	{ "x86_64" }, { "arm64" }, { "i386", "x86_64" }, { "x86_64_mac" }, { "arm64_mac" },
};
enum { X86, ARM, I386, MAC_X86, MAC_ARM };

static const struct sim_aws_accelerator
    v100 = { "V100", "NVIDIA", 16384, AWS_GPU }, a100 = { "A100", "NVIDIA", 40960, AWS_GPU },
    a100_80 = { "A100", "NVIDIA", 81920, AWS_GPU }, h100 = { "H100", "NVIDIA", 81920, AWS_GPU },
    h200 = { "H200", "NVIDIA", 144384, AWS_GPU }, m60 = { "M60", "NVIDIA", 8192, AWS_GPU },
    t4 = { "T4", "NVIDIA", 16384, AWS_GPU }, t4g = { "T4g", "NVIDIA", 16384, AWS_GPU },
    a10g = { "A10G", "NVIDIA", 24576, AWS_GPU }, l4 = { "L4", "NVIDIA", 22888, AWS_GPU },
    l40s = { "L40S", "NVIDIA", 45776, AWS_GPU }, v520 = { "Radeon Pro V520", "AMD", 8192, AWS_GPU },
    gaudi = { "Gaudi HL-205", "Habana", 32768, AWS_GPU },
    inferentia = { "Inferentia", "AWS", 8192, AWS_INFERENCE },
    inferentia2 = { "Inferentia2", "AWS", 32768, AWS_NEURON },
    trainium = { "Trainium", "AWS", 32768, AWS_NEURON },
    trainium2 = { "Trainium2", "AWS", 98304, AWS_NEURON },
    u30 = { "U30", "Xilinx", 24576, AWS_FPGA },
    vu9p = { "Virtex UltraScale (VU9P)", "Xilinx", 65536, AWS_FPGA };

/*
 * A size is its name, or NAME:VCPUS:MIB[:ACCELERATORS] where the name does not decide: "2xlarge" has 8 vCPUs,
 * and memory by the family's MiB for each; "metal" is the size before it without a hypervisor.
 */
#define S24	"large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge"
#define S32	S24 " 32xlarge"
#define S48	S24 " 48xlarge"
#define S16	"medium large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge"
#define G24	"medium " S24 " 48xlarge metal-24xl metal-48xl"

static const struct family {
	const char			*name;
	unsigned			 architecture;
	const char			*maker;
	unsigned			 mib;		/* for each vCPU */
	double				 ghz;
	unsigned			 flags;		/* enum family_flag */
	const struct sim_aws_accelerator *accelerator;
	const char			*sizes;
} families[] = {
#define INTEL(name, mib, flags, sizes)	{ name, X86, "Intel", mib, 3.1, flags, NULL, sizes },
#define AMD(name, mib, flags, sizes)	{ name, X86, "AMD", mib, 3.6, flags, NULL, sizes },
#define GRAVITON(name, mib, flags, sizes) { name, ARM, "AWS", mib, 2.6, (flags) | ONE_THREAD, NULL, sizes },
#define WITH(name, arch, maker, what, flags, sizes) { name, arch, maker, 0, 2.5, flags, &(what), sizes },
	/* General purpose */
	{ "t2", I386, "Intel", 0, 2.4, COMMON | BURST | ONE_THREAD, NULL,
	    "nano:1:512 micro:1:1024 small:1:2048 medium:2:4096" },
	{ "t2", X86, "Intel", 0, 2.3, COMMON | BURST | ONE_THREAD, NULL,
	    "large:2:8192 xlarge:4:16384 2xlarge:8:32768" },
#define T_SIZES	"nano:2:512 micro:2:1024 small:2:2048 medium:2:4096 large:2:8192 xlarge:4:16384 " \
		"2xlarge:8:32768"
	INTEL("t3", 0, COMMON | BURST, T_SIZES)
	AMD("t3a", 0, BURST, T_SIZES)
	GRAVITON("t4g", 0, COMMON | BURST, T_SIZES)
	INTEL("m4", 4 * GIB, OLD, "large xlarge 2xlarge 4xlarge 10xlarge 16xlarge")
	INTEL("m5", 4 * GIB, COMMON, S24 " metal")
	AMD("m5a", 4 * GIB, 0, S24)
	AMD("m5ad", 4 * GIB, DISK, S24)
	INTEL("m5d", 4 * GIB, DISK, S24 " metal")
	INTEL("m5dn", 4 * GIB, DISK | EFA, S24 " metal")
	INTEL("m5n", 4 * GIB, EFA, S24 " metal")
	INTEL("m5zn", 4 * GIB, 0, "large xlarge 2xlarge 3xlarge 6xlarge 12xlarge metal")
	AMD("m6a", 4 * GIB, COMMON, S48 " 32xlarge metal")
	GRAVITON("m6g", 4 * GIB, COMMON, S16 " metal")
	GRAVITON("m6gd", 4 * GIB, DISK, S16 " metal")
	INTEL("m6i", 4 * GIB, COMMON | EFA, S32 " metal")
	INTEL("m6id", 4 * GIB, DISK | EFA, S32 " metal")
	INTEL("m6idn", 4 * GIB, DISK | EFA, S32 " metal")
	INTEL("m6in", 4 * GIB, EFA, S32 " metal")
	AMD("m7a", 4 * GIB, ONE_THREAD, "medium " S48 " 32xlarge metal-48xl")
	GRAVITON("m7g", 4 * GIB, COMMON, S16 " metal")
	GRAVITON("m7gd", 4 * GIB, DISK, S16 " metal")
	INTEL("m7i", 4 * GIB, COMMON, S48 " metal-24xl metal-48xl")
	INTEL("m7i-flex", 4 * GIB, 0, "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge")
	GRAVITON("m8g", 4 * GIB, 0, G24)
	GRAVITON("m8gd", 4 * GIB, DISK, G24)
	{ "mac1", MAC_X86, "Intel", 0, 3.2, 0, NULL, "metal:12:32768" },
	{ "mac2", MAC_ARM, "Apple", 0, 3.2, ONE_THREAD, NULL, "metal:8:16384" },
	{ "mac2-m2", MAC_ARM, "Apple", 0, 3.4, ONE_THREAD, NULL, "metal:8:24576" },
	{ "mac2-m2pro", MAC_ARM, "Apple", 0, 3.4, ONE_THREAD, NULL, "metal:12:32768" },
	/* Compute */
	INTEL("c4", 1920, OLD, "large xlarge 2xlarge 4xlarge 8xlarge:36:61440")
	INTEL("c5", 2 * GIB, COMMON, "large xlarge 2xlarge 4xlarge 9xlarge 12xlarge 18xlarge 24xlarge metal")
	AMD("c5a", 2 * GIB, 0, S24)
	AMD("c5ad", 2 * GIB, DISK, S24)
	INTEL("c5d", 2 * GIB, DISK, "large xlarge 2xlarge 4xlarge 9xlarge 12xlarge 18xlarge 24xlarge metal")
	INTEL("c5n", 2688, EFA, "large xlarge 2xlarge 4xlarge 9xlarge 18xlarge metal")
	AMD("c6a", 2 * GIB, COMMON, S48 " 32xlarge metal")
	GRAVITON("c6g", 2 * GIB, COMMON, S16 " metal")
	GRAVITON("c6gd", 2 * GIB, DISK, S16 " metal")
	GRAVITON("c6gn", 2 * GIB, EFA, S16)
	INTEL("c6i", 2 * GIB, COMMON | EFA, S32 " metal")
	INTEL("c6id", 2 * GIB, DISK | EFA, S32 " metal")
	INTEL("c6in", 2 * GIB, EFA, S32 " metal")
	AMD("c7a", 2 * GIB, ONE_THREAD, "medium " S48 " 32xlarge metal-48xl")
	GRAVITON("c7g", 2 * GIB, COMMON, S16 " metal")
	GRAVITON("c7gd", 2 * GIB, DISK, S16 " metal")
	GRAVITON("c7gn", 2 * GIB, EFA, S16 " metal")
	INTEL("c7i", 2 * GIB, 0, S48 " metal-24xl metal-48xl")
	INTEL("c7i-flex", 2 * GIB, 0, "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge")
	GRAVITON("c8g", 2 * GIB, 0, G24)
	GRAVITON("c8gd", 2 * GIB, DISK, G24)
	/* Memory */
	INTEL("r4", 7808, OLD, "large xlarge 2xlarge 4xlarge 8xlarge 16xlarge")
	INTEL("r5", 8 * GIB, COMMON, S24 " metal")
	AMD("r5a", 8 * GIB, 0, S24)
	AMD("r5ad", 8 * GIB, DISK, S24)
	INTEL("r5b", 8 * GIB, 0, S24 " metal")
	INTEL("r5d", 8 * GIB, DISK, S24 " metal")
	INTEL("r5dn", 8 * GIB, DISK | EFA, S24 " metal")
	INTEL("r5n", 8 * GIB, EFA, S24 " metal")
	AMD("r6a", 8 * GIB, 0, S48 " 32xlarge metal")
	GRAVITON("r6g", 8 * GIB, COMMON, S16 " metal")
	GRAVITON("r6gd", 8 * GIB, DISK, S16 " metal")
	INTEL("r6i", 8 * GIB, COMMON | EFA, S32 " metal")
	INTEL("r6id", 8 * GIB, DISK | EFA, S32 " metal")
	INTEL("r6idn", 8 * GIB, DISK | EFA, S32 " metal")
	INTEL("r6in", 8 * GIB, EFA, S32 " metal")
	AMD("r7a", 8 * GIB, ONE_THREAD, "medium " S48 " 32xlarge metal-48xl")
	GRAVITON("r7g", 8 * GIB, 0, S16 " metal")
	GRAVITON("r7gd", 8 * GIB, DISK, S16 " metal")
	INTEL("r7i", 8 * GIB, 0, S48 " metal-24xl metal-48xl")
	INTEL("r7iz", 8 * GIB, 0,
	    "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 32xlarge metal-32xl")
	GRAVITON("r8g", 8 * GIB, 0, G24)
	GRAVITON("r8gd", 8 * GIB, DISK, G24)
	GRAVITON("x2gd", 16 * GIB, DISK, S16 " metal")
	INTEL("x1", 15616, OLD | DISK, "16xlarge 32xlarge")
	INTEL("x1e", 31232, OLD | DISK, "xlarge 2xlarge 4xlarge 8xlarge 16xlarge 32xlarge")
	INTEL("x2idn", 16 * GIB, DISK | EFA, "16xlarge 24xlarge 32xlarge metal")
	INTEL("x2iedn", 32 * GIB, DISK | EFA,
	    "xlarge 2xlarge 4xlarge 8xlarge 16xlarge 24xlarge 32xlarge metal")
	INTEL("x2iezn", 32 * GIB, 0, "2xlarge 4xlarge 6xlarge 8xlarge 12xlarge metal")
	INTEL("u-6tb1", 0, 0, "56xlarge:224:6291456 112xlarge:448:6291456 metal:448:6291456")
	INTEL("u7in-32tb", 0, EFA, "224xlarge:896:33554432")
	INTEL("z1d", 8 * GIB, DISK, "large xlarge 2xlarge 3xlarge 6xlarge 12xlarge metal")
	/* Storage */
	INTEL("d2", 7808, OLD | DISK, "xlarge 2xlarge 4xlarge 8xlarge:36:249856")
	INTEL("d3", 8 * GIB, DISK, "xlarge 2xlarge 4xlarge 8xlarge")
	INTEL("d3en", 4 * GIB, DISK, "xlarge 2xlarge 4xlarge 6xlarge 8xlarge 12xlarge")
	INTEL("h1", 4 * GIB, OLD | DISK, "2xlarge 4xlarge 8xlarge 16xlarge")
	INTEL("i3", 7808, DISK, "large xlarge 2xlarge 4xlarge 8xlarge 16xlarge metal:72:524288")
	INTEL("i3en", 8 * GIB, DISK, "large xlarge 2xlarge 3xlarge 6xlarge 12xlarge 24xlarge metal")
	GRAVITON("i4g", 8 * GIB, DISK, "large xlarge 2xlarge 4xlarge 8xlarge 16xlarge")
	INTEL("i4i", 8 * GIB, DISK, S32 " metal")
	GRAVITON("im4gn", 4 * GIB, DISK, "large xlarge 2xlarge 4xlarge 8xlarge 16xlarge")
	GRAVITON("is4gen", 6 * GIB, DISK, "medium large xlarge 2xlarge 4xlarge 8xlarge")
	/* HPC */
	AMD("hpc6a", 0, EFA | ONE_THREAD, "48xlarge:96:393216")
	INTEL("hpc6id", 0, EFA | DISK | ONE_THREAD, "32xlarge:64:1048576")
	AMD("hpc7a", 0, EFA | ONE_THREAD,
	    "12xlarge:24:786432 24xlarge:48:786432 48xlarge:96:786432 96xlarge:192:786432")
	GRAVITON("hpc7g", 0, EFA, "4xlarge:16:131072 8xlarge:32:131072 16xlarge:64:131072")
	/* Accelerators */
	WITH("p3", X86, "Intel", v100, 0, "2xlarge:8:62464:1 8xlarge:32:249856:4 16xlarge:64:499712:8")
	WITH("p3dn", X86, "Intel", v100, EFA | DISK, "24xlarge:96:786432:8")
	WITH("p4d", X86, "Intel", a100, EFA | DISK, "24xlarge:96:1179648:8")
	WITH("p4de", X86, "Intel", a100_80, EFA | DISK, "24xlarge:96:1179648:8")
	WITH("p5", X86, "AMD", h100, EFA | DISK, "4xlarge:16:262144:1 48xlarge:192:2097152:8")
	WITH("p5e", X86, "AMD", h200, EFA | DISK, "48xlarge:192:2097152:8")
	WITH("p5en", X86, "Intel", h200, EFA | DISK, "48xlarge:192:2097152:8")
	WITH("g3", X86, "Intel", m60, OLD, "4xlarge:16:124928:1 8xlarge:32:249856:2 16xlarge:64:499712:4")
	WITH("g4ad", X86, "AMD", v520, DISK,
	    "xlarge:4:16384:1 2xlarge:8:32768:1 4xlarge:16:65536:1 8xlarge:32:131072:2 16xlarge:64:262144:4")
	WITH("g4dn", X86, "Intel", t4, COMMON | DISK, "xlarge:4:16384:1 2xlarge:8:32768:1 4xlarge:16:65536:1 "
	    "8xlarge:32:131072:1 12xlarge:48:196608:4 16xlarge:64:262144:1 metal:96:393216:8")
	WITH("g5", X86, "AMD", a10g, COMMON | DISK, "xlarge:4:16384:1 2xlarge:8:32768:1 4xlarge:16:65536:1 "
	    "8xlarge:32:131072:1 12xlarge:48:196608:4 16xlarge:64:262144:1 24xlarge:96:393216:4 "
	    "48xlarge:192:786432:8")
	WITH("g5g", ARM, "AWS", t4g, COMMON | ONE_THREAD, "xlarge:4:8192:1 2xlarge:8:16384:1 "
	    "4xlarge:16:32768:1 8xlarge:32:65536:1 16xlarge:64:131072:2 metal:64:131072:2")
	WITH("g6", X86, "AMD", l4, DISK, "xlarge:4:16384:1 2xlarge:8:32768:1 4xlarge:16:65536:1 "
	    "8xlarge:32:131072:1 12xlarge:48:196608:4 16xlarge:64:262144:1 24xlarge:96:393216:4 "
	    "48xlarge:192:786432:8")
	WITH("g6e", X86, "AMD", l40s, DISK, "xlarge:4:32768:1 2xlarge:8:65536:1 4xlarge:16:131072:1 "
	    "8xlarge:32:262144:1 12xlarge:48:393216:4 16xlarge:64:524288:1 24xlarge:96:786432:4 "
	    "48xlarge:192:1572864:8")
	WITH("g6f", X86, "AMD", l4, DISK | PART,
	    "large:2:8192:1 xlarge:4:16384:1 2xlarge:8:32768:1 4xlarge:16:65536:1")
	WITH("gr6", X86, "AMD", l4, DISK, "4xlarge:16:131072:1 8xlarge:32:262144:1")
	WITH("dl1", X86, "Intel", gaudi, EFA | DISK, "24xlarge:96:786432:8")
	WITH("inf1", X86, "Intel", inferentia, 0,
	    "xlarge:4:8192:1 2xlarge:8:16384:1 6xlarge:24:49152:4 24xlarge:96:196608:16")
	WITH("inf2", X86, "AMD", inferentia2, 0,
	    "xlarge:4:16384:1 8xlarge:32:131072:1 24xlarge:96:393216:6 48xlarge:192:786432:12")
	WITH("trn1", X86, "Intel", trainium, EFA | DISK, "2xlarge:8:32768:1 32xlarge:128:524288:16")
	WITH("trn2", X86, "Intel", trainium2, EFA | DISK, "48xlarge:192:2097152:16")
	WITH("vt1", X86, "Intel", u30, 0, "3xlarge:12:24576:2 6xlarge:24:49152:4 24xlarge:96:196608:16")
	WITH("f1", X86, "Intel", vu9p, DISK, "2xlarge:8:124928:1 4xlarge:16:249856:2 16xlarge:64:999424:8")
};

static const struct {
	const char	*name, *partition;
} regions[] = {
	{ "us-east-1", "aws" }, { "us-east-2", "aws" }, { "us-west-1", "aws" }, { "us-west-2", "aws" },
	{ "ca-central-1", "aws" }, { "sa-east-1", "aws" }, { "eu-west-1", "aws" }, { "eu-west-2", "aws" },
	{ "eu-central-1", "aws" }, { "eu-north-1", "aws" }, { "ap-south-1", "aws" },
	{ "ap-southeast-1", "aws" }, { "ap-southeast-2", "aws" }, { "ap-northeast-1", "aws" },
	{ "cn-north-1", "aws-cn" }, { "cn-northwest-1", "aws-cn" }, { "us-gov-west-1", "aws-us-gov" },
	{ "us-gov-east-1", "aws-us-gov" }, { "eusc-de-east-1", "aws-eusc" },
};

static bool is_in_region(const struct family *, const char *);
static void make(struct sim_aws_type *, const struct family *, const char *, unsigned);
static unsigned vcpus_of(const char *, unsigned);

const char *
sim_aws_partition_of(const char *region)
{
	for (size_t i = 0; i < NITEMS(regions); i++) {
		if (strcmp(regions[i].name, region) == 0)
			return regions[i].partition;
	}
	return NULL;
}

size_t
sim_aws_types(const char *region, struct sim_aws_type **out)
{
	size_t n = 0, room = 0;

	*out = NULL;
	for (size_t i = 0; i < NITEMS(families); i++) {
		const struct family *const f = &families[i];
		unsigned before = 0;

		if (!is_in_region(f, region))
			continue;
		for (const char *p = f->sizes; *p != '\0';) {
			char size[SIZE_MAX_TEXT];
			const size_t len = strcspn(p, " ");

			MUST(len < sizeof(size));
			memcpy(size, p, len);
			size[len] = '\0';
			p += len + (p[len] == ' ');
			if (n == room) {
				room = room == 0 ? 1024 : 2 * room;
				*out = obj_realloc(*out, room * sizeof(**out));
			}
			make(&(*out)[n], f, size, before);
			before = (*out)[n++].vcpus;
		}
	}
	return n;
}

/* The first region has everything, as the real one nearly has. */
static bool
is_in_region(const struct family *f, const char *region)
{
	char both[AWS_NAME_MAX];

	if ((f->flags & COMMON) != 0 || strcmp(region, regions[0].name) == 0)
		return true;
	const int len = snprintf(both, sizeof(both), "%s %s", f->name, region);
	return hash64(both, (size_t)len) % 16 != 0;
}

/* size: "2xlarge", or "2xlarge:8:32768:1". before: vCPUs of the size before it. */
static void
make(struct sim_aws_type *t, const struct family *f, const char *size, unsigned before)
{
	const int name = (int)strcspn(size, ":");
	unsigned vcpus = 0, accelerators = 0;
	unsigned long long mib = 0;

	*t = (struct sim_aws_type){ .maker = f->maker, .ghz = f->ghz, .metal = strncmp(size, "metal", 5) == 0,
		.threads = (f->flags & ONE_THREAD) != 0 ? 1 : 2, .current = (f->flags & OLD) == 0,
		.burstable = (f->flags & BURST) != 0, .local_disk = (f->flags & DISK) != 0,
		.efa = (f->flags & EFA) != 0, .accelerator = f->accelerator };
	memcpy(t->architectures, architectures[f->architecture], sizeof(t->architectures));
	MUST(snprintf(t->name, sizeof(t->name), "%s.%.*s", f->name, name, size) < AWS_TYPE_NAME);
	if (sscanf(size + name, ":%u:%llu:%u", &vcpus, &mib, &accelerators) < 2) {
		vcpus = vcpus_of(size, before);
		mib = (unsigned long long)vcpus * f->mib;
	}
	t->vcpus = vcpus;
	t->threads = vcpus == 1 ? 1 : t->threads;
	t->memory_mib = mib;
	if ((f->flags & PART) != 0)
		t->logical_gpus = accelerators;
	else
		t->accelerators = accelerators;
}

static unsigned
vcpus_of(const char *size, unsigned before)
{
	unsigned n;

	if (sscanf(size, "metal-%uxl", &n) == 1 || sscanf(size, "%uxlarge", &n) == 1)
		return 4 * n;
	return strcmp(size, "medium") == 0 ? 1 : strcmp(size, "large") == 0 ? 2
	    : strcmp(size, "xlarge") == 0 ? 4 : before;
}
