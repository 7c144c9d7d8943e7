/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher.h"

#include <stdbool.h>
#include <stddef.h>

#include "conf.h"

/* Rank, size and local rank are taken from one family, the first whose rank
 * is a number.  A launcher's own names come before those that several
 * share; Slurm comes last and only inside a step, because a batch script
 * has SLURM_PROCID=0 and hands it to whatever mpirun it calls. */
struct family {
	const char *name, *rank, *ranks, *local_rank, *needs;
};

static const struct family families[] = {
	{ "openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	    "OMPI_COMM_WORLD_LOCAL_RANK", NULL },
	{ "mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
	    "MV2_COMM_WORLD_LOCAL_RANK", NULL },
	{ "pals", "PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", NULL },
	{ "flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE",
	    "FLUX_TASK_LOCAL_ID", NULL },
	{ "jsm", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE",
	    "JSM_NAMESPACE_LOCAL_RANK", NULL },
	{ "hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", NULL },
	{ "pmix", "PMIX_RANK", "", "", NULL },
	{ "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "WORLD_SIZE" },
	{ "slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
	    "SLURM_STEP_ID" },
};

static const char *const jobs[] = {
	"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PALS_APID",
	"PMIX_NAMESPACE",
};

static int32_t
number_of(const char *name)
{
	const char *value = *name ? hh_conf_get(name) : NULL;
	int32_t number;

	return value && hh_conf_number(value, &number) ? number : -1;
}

static struct hh_launcher
from_family(const struct family *f)
{
	return (struct hh_launcher){
		.name = f->name,
		.rank = number_of(f->rank),
		.ranks = number_of(f->ranks),
		.local_rank = number_of(f->local_rank),
	};
}

static struct hh_launcher
find_family(void)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		const struct family *f = &families[i];

		if ((!f->needs || hh_conf_get(f->needs))
		    && number_of(f->rank) >= 0)
			return from_family(f);
	}
	return (struct hh_launcher){"", NULL, -1, -1, -1};
}

struct hh_launcher
hh_launcher_find(void)
{
	const char *own = hh_conf_get("HEAPHOOK_RANK_VAR");
	struct hh_launcher found = find_family();

	if (own && number_of(own) >= 0) {
		found.name = own;
		found.rank = number_of(own);
	}
	for (size_t i = 0; !found.job && i < sizeof jobs / sizeof *jobs; i++)
		found.job = hh_conf_get(jobs[i]);
	return found;
}
