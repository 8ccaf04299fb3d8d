/* SPDX-License-Identifier: GPL-2.0 */
/* Who owns which counter, and which events there are: /sys/kernel/debug/my_pmu/. */
#ifndef MY_PMU_DEBUGFS_H
#define MY_PMU_DEBUGFS_H

struct dentry;
struct my_session;

struct dentry *my_debugfs_create(struct my_session *s);

#endif
