/* SPDX-License-Identifier: GPL-2.0 */
/* The thread that takes a sample every interval. */
#ifndef MY_PMU_SAMPLER_H
#define MY_PMU_SAMPLER_H

struct dentry;
struct my_session;

int my_sampler_init(struct my_session *s);
int my_sampler_start(void);
int my_sampler_prepare(struct my_session *next);
void my_sampler_sample(void);
void my_sampler_begin(void);
struct my_samples *my_sampler_samples(void);
void my_sampler_show(struct dentry *dir);
void my_sampler_stop(void);
void my_sampler_free(void);

#endif
