/* SPDX-License-Identifier: GPL-2.0 */
/* Events of other modules. */
#ifndef MY_PMU_CLIENT_H
#define MY_PMU_CLIENT_H

#include <linux/types.h>

#include "my_pmu.h"

struct my_names;
struct my_pmu_cpu;

/**
 * struct my_client_host - what other modules' events depend on
 * @reserved: the generic counters that are kept from perf, on all CPUs
 * @guarded: that is done by a guard, on CPUs that have one
 * @names: what names mean on a CPU, or NULL if that is not known
 */
struct my_client_host {
	u64 reserved;
	bool guarded;
	const struct my_names *(*names)(const struct my_pmu_cpu *cpu);
};

void my_clients_begin(const struct my_client_host *host);
unsigned int my_clients_end(void);
int my_clients_come(int cpu, struct my_pmu_why *why);
int my_clients_go(int cpu);
void my_clients_sleep(bool asleep);
void my_clients_lock(void);
void my_clients_unlock(void);

#endif
