// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters' parser, as it is, on the host: reads events, one in a line, and
 * prints for each what the module makes of it: event select, the counters that it names,
 * as numbers, and the modes in which it is counted; or why it is refused.
 */
#include <stdio.h>
#include <string.h>

#include "pmu_encode.h"
#include "pmu_ops.h"
#include "pmu_parse.h"
#include "pmu_why.h"

static u64 counters_of(const struct my_perf_event_attr *attr)
{
	return attr->constraint == MY_PMC_ANY ? attr->allowed :
						BIT_ULL(attr->constraint);
}

static void parse(const char *line)
{
	struct my_perf_event_attr attr;
	struct my_pmu_why why;

	if (my_parse_events(line, &attr, 1, &why) != 1) {
		printf("refused: %s\n", why.text);
		return;
	}
	printf("%llu %llu%s%s\n", (unsigned long long)attr.config,
	       (unsigned long long)counters_of(&attr),
	       attr.exclude_user ? "" : " u", attr.exclude_kernel ? "" : " k");
}

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		parse(line);
	}
	return ferror(stdin) ? 1 : 0;
}
