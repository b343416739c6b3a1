/*
 * sim/aws/sim_aws_private.h - the parts of the simulated AWS: instance types, XML, credentials.
 *
 * Both services and all regions have one address, as AWS_ENDPOINT_URL gives it: the action decides the
 * service, and the scope of the signature the region. A host name of AWS must agree with that scope.
 */
#ifndef MUSTER_SIM_AWS_PRIVATE_H
#define MUSTER_SIM_AWS_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/provider/sim_provider.h"
#include "sim/sim.h"

enum {
	AWS_TYPE_NAME = 32,
	AWS_NAME_MAX = 256,
	AWS_CREDENTIALS_MAX = 256,	/* that are remembered; the oldest goes */
	AWS_REGIONS_MAX = 32,
};

struct sim_aws_credential {
	char		 access_key[24], secret_key[48];
	char		*session_token;		/* NULL: this one was never made */
	char		 token[64];		/* the id of the web identity token */
	char		 partition[16];
	int64_t		 expires_ms;		/* by the server's clock */
	int64_t		 calls;			/* of EC2, that it was used for */
};

struct sim_aws_region {
	char			 name[AWS_NAME_MAX];
	struct sim_aws_type	*types;
	size_t			 n;
};

/* What tests may set. */
struct sim_aws_settings {
	int64_t	credentials_s;		/* until credentials expire; 0: as requested, else an hour */
	int64_t	credential_calls;	/* of EC2, for which credentials are good; 0: any number */
	int64_t	clock_ahead_s;		/* the server's clock */
	int64_t	repeat_token;		/* 1: a page has the token with which it was requested */
};

struct sim_aws {
	uint32_t			 magic;
#define SIM_AWS_MAGIC	0x41575321u
	struct simulator		*sim;
	struct sim_aws_settings		 settings;
	json_t				*hidden;	/* names of types that no answer has */
	struct sim_aws_credential	 credentials[AWS_CREDENTIALS_MAX];
	size_t				 ncredentials;	/* ever made */
	struct sim_aws_region		 regions[AWS_REGIONS_MAX];	/* whose types were requested */
	size_t				 nregions;
	uint64_t			 last_page;
};

struct sim_buf;

/* ---- sim_aws.c ---- */
bool sim_aws_is_sts(const struct sim_provider_call *c);
int64_t sim_aws_now_ms(const struct sim_aws *a);	/* by the server's clock */
struct sim_provider_answer sim_aws_refuse(struct sim_aws *a, bool sts, int status, const char *code,
    const char *message);
/* 200 with that text. Frees it. */
struct sim_provider_answer sim_aws_answer(const struct sim_aws *a, struct sim_buf *text);

/* ---- sim_aws_sts.c ---- */
sim_provider_handler sim_aws_assume_role;
struct sim_aws_credential *sim_aws_find_credential(struct sim_aws *a, const char *access_key);

/* ---- sim_aws_ec2.c ---- */
sim_provider_handler sim_aws_describe_types;
/* Whether a call of EC2 is signed as it must be; sets its token. Those of STS are not signed. */
bool sim_aws_admit(void *model, struct sim_provider_call *c, struct sim_provider_answer *refused);

/* ---- sim_aws_types.c: the generator. Pure ---- */

struct sim_aws_accelerator {
	const char	*name, *manufacturer;	/* NULL: none */
	unsigned	 memory_mib;		/* of one */
	enum { AWS_GPU, AWS_NEURON, AWS_INFERENCE, AWS_FPGA } kind;
};

struct sim_aws_type {
	char				 name[AWS_TYPE_NAME];
	const char			*architectures[3];	/* end: NULL */
	const char			*maker;			/* of its processor */
	unsigned			 vcpus, threads;	/* threads: of a core */
	uint64_t			 memory_mib;
	double				 ghz;
	bool				 metal, current, burstable, local_disk, efa;
	unsigned			 accelerators;		/* 0: none */
	unsigned			 logical_gpus;		/* of a part of a GPU; 0: whole ones */
	const struct sim_aws_accelerator *accelerator;
};

/* The types of a region, in the order of the API; the array is the caller's to free. */
size_t sim_aws_types(const char *region, struct sim_aws_type **out);
/* "aws", "aws-cn": NULL: it is no region that is served. */
const char *sim_aws_partition_of(const char *region);

/* ---- sim_aws_xml.c: answers; new references of texts ---- */

void sim_aws_xml_type(struct sim_buf *to, const struct sim_aws_type *t);
void sim_aws_xml_text(struct sim_buf *to, const char *element, const char *text);	/* escaped */
json_t *sim_aws_xml_error(bool sts, const char *code, const char *message, const char *request_id);

#endif
