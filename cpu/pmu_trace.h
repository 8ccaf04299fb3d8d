/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints: each overflow of an event with a period, and each row of a sample.
 * /sys/kernel/tracing/events/my_pmu/ has their formats; docs/sampling.md shows how to
 * use them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM my_pmu

#if !defined(MY_PMU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MY_PMU_TRACE_H

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

/*
 * Written in the NMI.  @ip is where the CPU was interrupted: some instructions behind the
 * one that has overflowed the counter, on hardware.  @counts are those of the event's group
 * at that instant, in the order of the group; none if the NMI has come while they were read.
 *
 * The library by which perf and trace-cmd print a record computes nothing in the arguments of
 * __print_array(): @nr is a field.
 */
TRACE_EVENT(my_pmu_overflow,
	    TP_PROTO(const char *name, int counter, u32 period, struct pt_regs *regs,
		     u64 time, const u64 *group, unsigned int nr),
	    TP_ARGS(name, counter, period, regs, time, group, nr),
	    TP_STRUCT__entry(__field(u64, ip)
			     __field(u64, time)
			     __field(u32, period)
			     __field(int, cpu)
			     __field(pid_t, pid)
			     __field(pid_t, tid)
			     __field(int, counter)
			     __field(bool, user)
			     __field(u8, nr)
			     __dynamic_array(char, event, strlen(name) + 1)
			     __dynamic_array(u64, counts, nr)),
	    TP_fast_assign(__entry->ip = instruction_pointer(regs);
			   __entry->time = time;
			   __entry->period = period;
			   __entry->cpu = raw_smp_processor_id();
			   __entry->pid = current->tgid;
			   __entry->tid = current->pid;
			   __entry->counter = counter;
			   __entry->user = user_mode(regs);
			   __entry->nr = nr;
			   memcpy(__get_dynamic_array(event), name, strlen(name) + 1);
			   memcpy(__get_dynamic_array(counts), group, nr * sizeof(*group));),
	    TP_printk("%s cpu=%d counter=%s%d ip=%pS user=%d pid=%d tid=%d period=%u time=%llu counts=%s",
		      __get_str(event), __entry->cpu, __entry->counter < 32 ? "gp" : "fixed",
		      __entry->counter & 31, (void *)(unsigned long)__entry->ip, __entry->user,
		      __entry->pid, __entry->tid, __entry->period, __entry->time,
		      __print_array(__get_dynamic_array(counts), __entry->nr, 8))
);

/*
 * A row of the file "samples".  Without @known the growth is not known.
 */
TRACE_EVENT(my_pmu_sample,
	    TP_PROTO(const char *name, int cpu, u64 number, u64 time, bool known, u64 growth,
		     u64 enabled, u64 running),
	    TP_ARGS(name, cpu, number, time, known, growth, enabled, running),
	    TP_STRUCT__entry(__field(u64, number)
			     __field(u64, time)
			     __field(u64, growth)
			     __field(u64, enabled)
			     __field(u64, running)
			     __field(int, cpu)
			     __field(bool, known)
			     __dynamic_array(char, event, strlen(name) + 1)),
	    TP_fast_assign(__entry->number = number;
			   __entry->time = time;
			   __entry->growth = growth;
			   __entry->enabled = enabled;
			   __entry->running = running;
			   __entry->cpu = cpu;
			   __entry->known = known;
			   memcpy(__get_dynamic_array(event), name, strlen(name) + 1);),
	    TP_printk("%s cpu=%d sample=%llu time=%llu known=%d growth=%llu enabled=%llu running=%llu",
		      __get_str(event), __entry->cpu, __entry->number, __entry->time,
		      __entry->known, __entry->growth, __entry->enabled, __entry->running)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pmu_trace
#include <trace/define_trace.h>
