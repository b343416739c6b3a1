/*
 * sim/aws/sim_aws_xml.c - instance types and errors as EC2 and STS write them.
 *
 * An item has all that the real one has, not only what is read here: a reader must find its figures among
 * elements of the same name (memoryInfo, manufacturer, item) at other depths.
 */
#include <stdio.h>
#include <string.h>

#include "sim/base/sim_buf.h"
#include "sim_aws_private.h"

static void put_flag(struct sim_buf *, const char *, bool);
static void put_number(struct sim_buf *, const char *, uint64_t);
static void put_list(struct sim_buf *, const char *, const char *);
static void put_processor(struct sim_buf *, const struct sim_aws_type *);
static void put_disks(struct sim_buf *, const struct sim_aws_type *);
static void put_network(struct sim_buf *, const struct sim_aws_type *);
static void put_accelerators(struct sim_buf *, const struct sim_aws_type *);
static void put_gpus(struct sim_buf *, const struct sim_aws_type *);

void
sim_aws_xml_text(struct sim_buf *to, const char *element, const char *text)
{
	static const struct {
		char		 c;
		const char	*as;
	} escapes[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" } };

	sim_buf_printf(to, "<%s>", element);
	for (const char *p = text; *p != '\0'; p++) {
		size_t i = 0;

		while (i < 3 && escapes[i].c != *p)
			i++;
		if (i < 3)
			sim_buf_puts(to, escapes[i].as);
		else
			sim_buf_add(to, p, 1);
	}
	sim_buf_printf(to, "</%s>", element);
}

json_t *
sim_aws_xml_error(bool sts, const char *code, const char *message, const char *request_id)
{
	struct sim_buf b = { 0 };

	sim_buf_puts(&b, sts ? "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n"
	    "  <Error>\n    <Type>Sender</Type>\n    "
	    : "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error>");
	sim_aws_xml_text(&b, "Code", code);
	sim_aws_xml_text(&b, "Message", message);
	sim_buf_printf(&b, sts ? "\n  </Error>\n  <RequestId>%s</RequestId>\n</ErrorResponse>\n"
	    : "</Error></Errors><RequestID>%s</RequestID></Response>", request_id);
	json_t *const text = json_stringn(b.bytes, b.len);
	sim_buf_free(&b);
	return text;
}

void
sim_aws_xml_type(struct sim_buf *to, const struct sim_aws_type *t)
{
	sim_buf_puts(to, "<item>");
	sim_aws_xml_text(to, "instanceType", t->name);
	put_flag(to, "currentGeneration", t->current);
	put_flag(to, "freeTierEligible", strcmp(t->name, "t3.micro") == 0);
	put_list(to, "supportedUsageClasses", "on-demand spot");
	put_list(to, "supportedRootDeviceTypes", "ebs");
	put_list(to, "supportedVirtualizationTypes", "hvm");
	put_flag(to, "bareMetal", t->metal);
	if (!t->metal)
		sim_aws_xml_text(to, "hypervisor", t->current ? "nitro" : "xen");
	put_processor(to, t);
	sim_buf_puts(to, "<memoryInfo>");
	put_number(to, "sizeInMiB", t->memory_mib);
	sim_buf_puts(to, "</memoryInfo>");
	put_disks(to, t);
	put_network(to, t);
	if (t->accelerator != NULL)
		put_accelerators(to, t);
	sim_buf_puts(to, "<placementGroupInfo>");
	put_list(to, "supportedStrategies", "cluster partition spread");
	sim_buf_puts(to, "</placementGroupInfo>");
	put_flag(to, "hibernationSupported", !t->metal && t->accelerator == NULL);
	put_flag(to, "burstablePerformanceSupported", t->burstable);
	put_flag(to, "dedicatedHostsSupported", !t->burstable);
	put_flag(to, "autoRecoverySupported", !t->metal && !t->local_disk);
	put_list(to, "supportedBootModes", "legacy-bios uefi");
	sim_aws_xml_text(to, "nitroEnclavesSupport", t->metal ? "unsupported" : "supported");
	sim_aws_xml_text(to, "nitroTpmSupport", t->metal ? "unsupported" : "supported");
	sim_buf_puts(to, "<nitroTpmInfo>");
	put_list(to, "supportedVersions", "2.0");
	sim_buf_puts(to, "</nitroTpmInfo></item>");
}

static void
put_flag(struct sim_buf *to, const char *element, bool value)
{
	sim_aws_xml_text(to, element, value ? "true" : "false");
}

static void
put_number(struct sim_buf *to, const char *element, uint64_t value)
{
	sim_buf_printf(to, "<%s>%llu</%s>", element, (unsigned long long)value, element);
}

/* words: separated by blanks. */
static void
put_list(struct sim_buf *to, const char *element, const char *words)
{
	sim_buf_printf(to, "<%s>", element);
	for (const char *p = words; *p != '\0';) {
		const int len = (int)strcspn(p, " ");

		sim_buf_printf(to, "<item>%.*s</item>", len, p);
		p += len + (p[len] == ' ');
	}
	sim_buf_printf(to, "</%s>", element);
}

static void
put_processor(struct sim_buf *to, const struct sim_aws_type *t)
{
	const unsigned cores = t->vcpus / t->threads;

	sim_buf_puts(to, "<processorInfo><supportedArchitectures>");
	for (size_t i = 0; t->architectures[i] != NULL; i++)
		sim_aws_xml_text(to, "item", t->architectures[i]);
	sim_buf_puts(to, "</supportedArchitectures>");
	sim_buf_printf(to, "<sustainedClockSpeedInGhz>%.1f</sustainedClockSpeedInGhz>", t->ghz);
	sim_aws_xml_text(to, "manufacturer", t->maker);
	sim_buf_puts(to, "</processorInfo><vCpuInfo>");
	put_number(to, "defaultVCpus", t->vcpus);
	put_number(to, "defaultCores", cores);
	put_number(to, "defaultThreadsPerCore", t->threads);
	if (!t->metal) {
		sim_buf_puts(to, "<validCores>");
		for (unsigned n = cores < 2 ? 1 : 2; n <= cores; n += 2)
			put_number(to, "item", n);
		sim_buf_puts(to, "</validCores>");
		put_list(to, "validThreadsPerCore", t->threads == 1 ? "1" : "1 2");
	}
	sim_buf_puts(to, "</vCpuInfo>");
}

static void
put_disks(struct sim_buf *to, const struct sim_aws_type *t)
{
	const uint64_t gb = (uint64_t)t->vcpus * 37 + 1;

	put_flag(to, "instanceStorageSupported", t->local_disk);
	if (t->local_disk) {
		sim_buf_puts(to, "<instanceStorageInfo>");
		put_number(to, "totalSizeInGB", gb);
		sim_buf_puts(to, "<disks><item>");
		put_number(to, "sizeInGB", gb);
		put_number(to, "count", 1);
		sim_buf_puts(to, "<type>ssd</type></item></disks><nvmeSupport>required</nvmeSupport>"
		    "<encryptionSupport>required</encryptionSupport></instanceStorageInfo>");
	}
	sim_buf_puts(to, "<ebsInfo><ebsOptimizedSupport>default</ebsOptimizedSupport>"
	    "<encryptionSupport>supported</encryptionSupport><ebsOptimizedInfo>");
	put_number(to, "baselineBandwidthInMbps", 650 + t->vcpus * 100);
	sim_buf_printf(to, "<baselineThroughputInMBps>%.1f</baselineThroughputInMBps>",
	    81.25 + t->vcpus * 12.5);
	put_number(to, "baselineIops", 3600 + t->vcpus * 400);
	put_number(to, "maximumBandwidthInMbps", 4750 + t->vcpus * 100);
	sim_buf_printf(to, "<maximumThroughputInMBps>%.1f</maximumThroughputInMBps>",
	    593.75 + t->vcpus * 12.5);
	put_number(to, "maximumIops", 18750 + t->vcpus * 400);
	sim_buf_puts(to, "</ebsOptimizedInfo><nvmeSupport>required</nvmeSupport></ebsInfo>");
}

static void
put_network(struct sim_buf *to, const struct sim_aws_type *t)
{
	const unsigned interfaces = t->vcpus >= 64 ? 15 : t->vcpus >= 16 ? 8 : t->vcpus >= 4 ? 4 : 3;
	const unsigned addresses = t->vcpus >= 64 ? 50 : t->vcpus >= 16 ? 30 : t->vcpus >= 4 ? 15 : 10;
	const double gbps = t->vcpus >= 32 ? t->vcpus / 4.0 : 0.75 * t->vcpus;

	sim_buf_printf(to, "<networkInfo><networkPerformance>Up to %u Gigabit</networkPerformance>",
	    t->vcpus >= 32 ? t->vcpus / 4 : 5);
	put_number(to, "maximumNetworkInterfaces", interfaces);
	put_number(to, "maximumNetworkCards", 1);
	put_number(to, "defaultNetworkCardIndex", 0);
	sim_buf_puts(to, "<networkCards><item>");
	put_number(to, "networkCardIndex", 0);
	sim_buf_printf(to, "<networkPerformance>Up to %u Gigabit</networkPerformance>"
	    "<maximumNetworkInterfaces>%u</maximumNetworkInterfaces>"
	    "<baselineBandwidthInGbps>%.3f</baselineBandwidthInGbps>"
	    "<peakBandwidthInGbps>%.1f</peakBandwidthInGbps>", t->vcpus >= 32 ? t->vcpus / 4 : 5, interfaces,
	    gbps, gbps * 2);
	sim_buf_puts(to, "</item></networkCards>");
	put_number(to, "ipv4AddressesPerInterface", addresses);
	put_number(to, "ipv6AddressesPerInterface", addresses);
	put_flag(to, "ipv6Supported", true);
	sim_aws_xml_text(to, "enaSupport", t->current ? "required" : "unsupported");
	put_flag(to, "efaSupported", t->efa);
	if (t->efa)
		sim_buf_puts(to, "<efaInfo><maximumEfaInterfaces>1</maximumEfaInterfaces></efaInfo>");
	put_flag(to, "encryptionInTransitSupported", t->current);
	put_flag(to, "enaSrdSupported", t->efa);
	sim_buf_puts(to, "</networkInfo>");
}

static void
put_accelerators(struct sim_buf *to, const struct sim_aws_type *t)
{
	const struct sim_aws_accelerator *const a = t->accelerator;
	static const struct {
		const char	*info, *list, *total;
	} names[] = {
		[AWS_INFERENCE] = { "inferenceAcceleratorInfo", "accelerators", "totalInferenceMemoryInMiB" },
		[AWS_NEURON] = { "neuronInfo", "neuronDevices", "totalNeuronDeviceMemoryInMiB" },
		[AWS_FPGA] = { "fpgaInfo", "fpgas", "totalFpgaMemoryInMiB" },
	};

	if (a->kind == AWS_GPU) {
		put_gpus(to, t);
		return;
	}
	sim_buf_printf(to, "<%s><%s><item>", names[a->kind].info, names[a->kind].list);
	put_number(to, "count", t->accelerators);
	sim_aws_xml_text(to, "name", a->name);
	if (a->kind != AWS_NEURON)
		sim_aws_xml_text(to, "manufacturer", a->manufacturer);
	sim_buf_printf(to, "<memoryInfo><sizeInMiB>%u</sizeInMiB></memoryInfo></item></%s>", a->memory_mib,
	    names[a->kind].list);
	put_number(to, names[a->kind].total, (uint64_t)t->accelerators * a->memory_mib);
	sim_buf_printf(to, "</%s>", names[a->kind].info);
}

/* A type with a part of a GPU has the count 0 and another figure for what its guests see. */
static void
put_gpus(struct sim_buf *to, const struct sim_aws_type *t)
{
	const struct sim_aws_accelerator *const a = t->accelerator;
	const unsigned memory_mib = t->logical_gpus > 0 ? a->memory_mib / 8 : a->memory_mib;
	const unsigned shown = t->logical_gpus > 0 ? t->logical_gpus : t->accelerators;

	sim_buf_puts(to, "<gpuInfo><gpus><item>");
	sim_aws_xml_text(to, "name", a->name);
	sim_aws_xml_text(to, "manufacturer", a->manufacturer);
	put_number(to, "count", t->accelerators);
	if (t->logical_gpus > 0) {
		put_number(to, "logicalGpuCount", t->logical_gpus);
		sim_buf_puts(to, "<gpuPartitionSize>0.125</gpuPartitionSize>");
	}
	sim_buf_printf(to, "<memoryInfo><sizeInMiB>%u</sizeInMiB></memoryInfo></item></gpus>", memory_mib);
	put_number(to, "totalGpuMemoryInMiB", (uint64_t)shown * memory_mib);
	sim_buf_puts(to, "</gpuInfo>");
}
