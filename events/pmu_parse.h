/* SPDX-License-Identifier: GPL-2.0 */
/* From the words of the parameters to events and numbers: pure. */
#ifndef MY_PMU_PARSE_H
#define MY_PMU_PARSE_H

struct my_perf_event_attr;
struct my_pmu_why;

int my_parse_events(const char *list, struct my_perf_event_attr *attr,
		    unsigned int max, struct my_pmu_why *why);
int my_parse_interval(const char *text, unsigned int *ms,
		      struct my_pmu_why *why);
int my_parse_switch(const char *text, bool *on, struct my_pmu_why *why);

#endif
