// SPDX-License-Identifier: GPL-2.0
/*
 * Counters for events that come and go.  The test is perf's core: on the CPU, with interrupts
 * off, it stops the pool, adds and deletes events, and starts it.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/workqueue.h>

#include "my_pmu.h"
#include "test.h"

unsigned int test_fail_pool;
static int nr_allocated;

static void *test_kvzalloc(size_t size, gfp_t gfp)
{
	void *p = test_fail_pool && !--test_fail_pool ? NULL : kvzalloc(size, gfp);

	nr_allocated += p ? 1 : 0;
	return p;
}

static void test_kvfree(const void *p)
{
	nr_allocated -= p ? 1 : 0;
	kvfree(p);
}

/* Works that were started, and in how many jiffies the last one is to come. */
static unsigned int nr_started;
static unsigned long started_in;

static bool test_queue_work(struct workqueue_struct *wq, struct delayed_work *work,
			    unsigned long delay)
{
	nr_started++;
	started_in = delay;
	return true;
}

#define queue_delayed_work	test_queue_work
#define mod_delayed_work	test_queue_work
#undef kvzalloc
#define kvzalloc		test_kvzalloc
#undef kvfree
#define kvfree			test_kvfree

#include "pmu_pool.c"

/*
 * On the test's CPU, where the test runs, with interrupts off, which are on.  local_irq_save()
 * would be a PUSHF each time: objtool follows 32 of them in a function at most.
 */
#define HERE(call) ({				\
	typeof(call) __result;			\
						\
	local_irq_disable();			\
	__result = call;			\
	local_irq_enable();			\
	__result;				\
})

#define DO_HERE(call)	HERE(({ call; 0; }))

/* What it has counted is for the next read. */
static void del(struct my_pool_event *event)
{
	u64 grown = my_pool_del(event);

	event->grown += grown;
}

struct there {
	struct my_pool_event *event;
	int err;
};

static void add_there(void *data)
{
	struct there *there = data;

	there->err = my_pool_add(my_pool_here(), there->event, true);
}

int test_pool_add(int cpu, struct my_pool_event *event)
{
	struct there there = { .event = event, .err = -ENXIO };

	test_call(cpu, add_there, &there);
	return there.err;
}

static void del_there(void *data)
{
	del(data);
}

void test_pool_del(int cpu, struct my_pool_event *event)
{
	test_call(cpu, del_there, event);
}

static struct sim_registers before;

static int pool_init(struct kunit *test)
{
	test_fail_pool = 0;
	nr_allocated = 0;
	nr_started = 0;
	sim_hold_clock(true);
	sim_reset(0, PMU(V4));
	/* A PMU that other tests have found there would be of the kind of this one. */
	memset(&my_pmu_cpu_of(0)->pmu, 0, sizeof(my_pmu_cpu_of(0)->pmu));
	test_fresh_cpu();
	return 0;
}

static void pool_exit(struct kunit *test)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);

	sim_cpu(TEST_CPU)->fail_nth = 0;
	sim_cpu(TEST_CPU)->fail_reg = 0;
	my_pools_go(0);
	my_pools_go(TEST_CPU);
	my_pools_end();
	my_pools_sleep(false);
	my_pmi_freeze = false;
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled | cpu->busy | cpu->active, 0ULL);
	test_bring_cpu_back();
}

/* A pool on a CPU with this PMU; the test goes there. */
static struct my_pool *fresh_pool(struct kunit *test, const struct sim_pmu *pmu)
{
	struct my_pmu_why why = {};

	sim_reset(TEST_CPU, pmu);
	test_leave_traces(sim_cpu(TEST_CPU));
	before = sim_cpu(TEST_CPU)->regs;
	test_run_there(test);
	KUNIT_ASSERT_EQ(test, my_pools_begin(GENMASK(31, 0), false, ~0ULL), 0);
	KUNIT_ASSERT_EQ_MSG(test, my_pools_come(TEST_CPU, &why), 0, "%s", why.text);
	test_expect_registers(test, pmu, &before, &sim_cpu(TEST_CPU)->regs);
	return HERE(my_pool_here());
}

/* The end of it: registers are as before. */
static void end_pool(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
	test_expect_good_manners(test);
}

static u64 last_id;

static struct my_pool_event *new_event(struct kunit *test, u64 config, u64 allowed)
{
	struct my_pool_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	event->attr = (struct my_perf_event_attr) {
		.name = "my_pmu/.../",
		.config = config,
		.constraint = MY_PMC_ANY,
		.allowed = allowed,
	};
	event->id = ++last_id;
	event->kind = my_pool_kind(TEST_CPU);
	event->anywhere = true;
	event->counters = my_pool_counters(&my_pmu_cpu_of(TEST_CPU)->pmu, &event->attr);
	return event;
}

static u64 writes(const struct sim_cpu *sim, u32 reg)
{
	u64 nr = 0;
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, sim->accesses, SIM_ACCESSES); i++)
		nr += sim->log[i].op == SIM_WRMSR && (!reg || sim->log[i].reg == reg);
	return nr;
}

/* --- counting ------------------------------------------------------------------------ */

static void pool_counts(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, test->param_value);
	u16 cycles = ((const struct sim_pmu *)test->param_value)->amd ? 0x76 : 0x3c;
	struct my_pool_event *insn = new_event(test, 0xc0, 0), *user = new_event(test, cycles, 0);

	user->attr.exclude_kernel = true;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(insn)), 0ULL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, insn, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, user, true)), 0);
	test_retire(test, 100, 20);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(insn)), 120ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(insn)), 0ULL);
	test_retire(test, 1, 1);
	DO_HERE(del(user));
	test_retire(test, 1000, 0);
	DO_HERE(del(insn));
	test_retire(test, 5, 5);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(insn)), 1002ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(user)), 101ULL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, user, true)), 0);
	test_retire(test, 7, 5);
	DO_HERE(del(user));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(user)), 7ULL);
	end_pool(test);
}

/* All start with one write, and are read at one instant, though each access takes time. */
static void pool_group(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, test->param_value);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pool_event *event[2];
	unsigned int i;
	u64 first;

	event[0] = new_event(test, 0xc0, BIT_ULL(0));
	event[1] = new_event(test, ((const struct sim_pmu *)test->param_value)->amd ? 0x76 : 0x3c,
			     0);
	sim->insns_per_access = 10;
	DO_HERE(my_pool_stop(pool));
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event[i], true)), 0);
	DO_HERE(my_pool_start(pool, 0));
	test_retire(test, 100, 100);
	DO_HERE(my_pool_stop(pool));
	first = HERE(my_pool_read(event[0]));
	KUNIT_EXPECT_GE(test, first, 200ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event[1])), first);
	DO_HERE(my_pool_start(pool, 0));
	DO_HERE(my_pool_stop(pool));
	for (i = 0; i < 2; i++)
		DO_HERE(del(event[i]));
	DO_HERE(my_pool_start(pool, 0));
	first = HERE(my_pool_read(event[0]));
	KUNIT_EXPECT_GT(test, first, 0ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event[1])), first);
	sim->insns_per_access = 0;
	end_pool(test);
}

/* What a switch of tasks writes: out once, in once, however many events. */
static void pool_costs(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pool_event *event[5];
	unsigned int i, turn;

	for (i = 0; i < 5; i++)
		event[i] = new_event(test, 0xc0 + i, 0);
	for (turn = 0; turn < 3; turn++) {
		sim_clear_log(sim);
		DO_HERE(my_pool_stop(pool));
		for (i = 0; i < 4; i++) {
			/* In whatever order. */
			struct my_pool_event *next = event[turn == 2 ? 3 - i : i];

			KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, next, true)), 0);
		}
		DO_HERE(my_pool_start(pool, 0));
		KUNIT_EXPECT_EQ(test, writes(sim, 0), turn ? 1ULL : 6ULL);
		/* Each counter and its control are read; the global control, too, and written. */
		if (turn)
			KUNIT_EXPECT_EQ(test, sim->accesses, 4 * 2U + 2);
		test_retire(test, 10, 10);
		sim_clear_log(sim);
		DO_HERE(my_pool_stop(pool));
		for (i = 0; i < 4; i++)
			DO_HERE(del(event[i]));
		DO_HERE(my_pool_start(pool, 0));
		KUNIT_EXPECT_EQ(test, writes(sim, 0), 1ULL);
		KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event[0])), 20ULL);
		/* Another task's event goes to a counter that holds nothing. */
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event[4], true)), 0);
		DO_HERE(del(event[4]));
	}
	end_pool(test);
}

/* A counter passes from one event to another, which counts something else. */
static void pool_passes_on(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V2_32));
	struct my_pool_event *a = new_event(test, 0xc0, BIT_ULL(0)), *b;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	b = new_event(test, 0xc0, BIT_ULL(0));
	b->attr.exclude_kernel = true;
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, a, true)), 0);
		test_retire(test, 10, 5);
		DO_HERE(del(a));
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
		test_retire(test, 100, 50);
		DO_HERE(del(b));
	}
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(a)), 30ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(b)), 200ULL);
	/* It is saved anew, whatever it holds when it is back. */
	my_pools_go(TEST_CPU);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	sim->regs.evtsel[0] = pool->set.event[0].hw.config;
	before.evtsel[0] = sim->regs.evtsel[0];
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
	KUNIT_EXPECT_EQ(test, pool->held, BIT_ULL(0));
	DO_HERE(del(b));
	end_pool(test);
}

/* When a counter has wrapped is not known; but since when it counts is. */
static void pool_unreliable(struct kunit *test)
{
	struct my_pool *pool;
	struct my_pool_event *event;

	pool = fresh_pool(test, PMU(V2_32));
	event = new_event(test, 0xc0, BIT_ULL(0));
	pool->set.cpu->overflow_reliable &= ~BIT_ULL(0);
	sim_pass_ms(100);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 10, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 10ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	end_pool(test);
}

static void pool_pauses(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, 0), *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, false)), 0);
	test_retire(test, 10, 0);
	DO_HERE(my_pool_pause(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	test_retire(test, 100, 0);
	DO_HERE(my_pool_pause(event));
	test_retire(test, 1000, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 100ULL);
	/* It is programmed already. */
	sim_clear_log(sim);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	KUNIT_EXPECT_EQ(test, writes(sim, 0), 1ULL);
	test_retire(test, 1, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1ULL);
	/* It comes back to its counter, also if it is not to run, and another one is free. */
	event = new_event(test, 0xc0, BIT_ULL(0) | BIT_ULL(1));
	other = new_event(test, 0xc4, BIT_ULL(0));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, event->idx, 1);
	DO_HERE(del(other));
	DO_HERE(del(event));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, false)), 0);
	KUNIT_EXPECT_EQ(test, event->idx, 1);
	DO_HERE(del(event));
	end_pool(test);
}

/* --- which counter ------------------------------------------------------------------- */

/* Instructions go to fixed0; what can only go there moves them, and so forth. */
static void pool_moves(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V2_32));
	struct my_pool_event *insn = new_event(test, 0xc0, 0), *fixed, *gp0, *gp1, *more;

	fixed = new_event(test, 0xc0, BIT_ULL(32));
	gp0 = new_event(test, 0xc4, BIT_ULL(0) | BIT_ULL(1));
	gp1 = new_event(test, 0xc5, BIT_ULL(1));
	more = new_event(test, 0xc5, 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, insn, true)), 0);
	KUNIT_EXPECT_EQ(test, insn->idx, 32);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, fixed, true)), 0);
	KUNIT_EXPECT_EQ(test, fixed->idx, 32);
	KUNIT_EXPECT_EQ(test, insn->idx, 0);
	test_retire(test, 100, 0);
	DO_HERE(del(fixed));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, gp0, true)), 0);
	KUNIT_EXPECT_EQ(test, gp0->idx, 1);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, gp1, true)), 0);
	KUNIT_EXPECT_EQ(test, insn->idx, 32);
	KUNIT_EXPECT_EQ(test, gp0->idx, 0);
	KUNIT_EXPECT_EQ(test, gp1->idx, 1);
	test_retire(test, 1000, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, more, true)), -EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, more->pool, (struct my_pool *)NULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, fixed, true)), -EAGAIN);
	DO_HERE(del(gp1));
	DO_HERE(del(gp0));
	DO_HERE(del(insn));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(insn)), 1110ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(fixed)), 100ULL);
	end_pool(test);
}

/* A CPU of another kind has other counters for it, or none; one of the same kind has the same. */
static void pool_unlike(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, 0);
	struct my_pmu_why why;

	sim_reset(0, PMU(V2_32));
	KUNIT_EXPECT_EQ(test, my_pools_come(0, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pool_kind(0), 0);
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
	end_pool(test);
	my_pools_end();
	sim_reset(0, PMU(V4));
	pool = fresh_pool(test, PMU(V4));
	KUNIT_EXPECT_EQ(test, my_pool_kind(0), -1);
	KUNIT_EXPECT_EQ(test, my_pools_come(0, &why), 0);
	/* It is like the one that came first. */
	KUNIT_EXPECT_EQ(test, my_pool_kind(0), TEST_CPU);
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
	KUNIT_EXPECT_EQ(test, my_pool_kind(TEST_CPU), TEST_CPU);
	event->kind = 0;
	event->counters = BIT_ULL(3);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, event->idx, 32);
	DO_HERE(del(event));
	event->attr.allowed = BIT_ULL(5);
	event->id = ++last_id;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, event->idx, 5);
	DO_HERE(del(event));
	event->anywhere = false;
	event->id = ++last_id;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EAGAIN);
	end_pool(test);
	KUNIT_EXPECT_EQ(test, my_pools_come(0, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pool_kind(0), TEST_CPU);
	KUNIT_EXPECT_EQ(test, my_pool_kind(TEST_CPU), TEST_CPU);
	event->kind = TEST_CPU;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, event->idx, 3);
	DO_HERE(del(event));
	end_pool(test);
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
}

static void pool_accepts(struct kunit *test)
{
	struct my_pool_event *event[MY_PMC_NR];
	const struct my_pool_event *none[1];
	struct my_pmu_why why;
	unsigned int i;

	none[0] = kunit_kzalloc(test, sizeof(*none[0]), GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, my_pools_begin(GENMASK(31, 0), false, ~0ULL), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, none, 1), -EBUSY);
	my_pools_end();
	fresh_pool(test, PMU(V4));
	/* What the architecture does not define has four counters for certain. */
	for (i = 0; i < 5; i++)
		event[i] = new_event(test, 0xb0 + i, 0);
	event[5] = new_event(test, 0xb0, BIT_ULL(7));
	KUNIT_EXPECT_EQ(test, event[0]->counters, 0xfULL);
	KUNIT_EXPECT_EQ(test, event[5]->counters, 0x80ULL);
	KUNIT_EXPECT_EQ(test, my_pools_accept(0, (void *)event, 1), -EBUSY);
	KUNIT_EXPECT_EQ(test, my_pools_come(0, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)event, 4), 0);
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(0, BIT_ULL(0), &why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(0, (void *)event, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)event, 4), 0);
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(TEST_CPU, (void *)event, 4), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)event, 4), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)event, 5), -EINVAL);
	end_pool(test);
}

/* --- others ---------------------------------------------------------------------------- */

/*
 * perf's core stops and starts its own PMU: 0, and then all ones, before or after ours.  What
 * others count goes on, and nothing is taken for a theft.
 */
static void pool_beside_perf(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct sim_registers *regs = &sim_cpu(TEST_CPU)->regs;
	struct my_pool_event *event = new_event(test, 0xc0, 0), *other;
	struct my_pmu_why why;

	other = new_event(test, 0xc4, BIT_ULL(2));
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(TEST_CPU, BIT_ULL(1), &why), 0);
	/* It has wrapped while it counted for nobody. */
	regs->global_status |= BIT_ULL(32);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 10, 0);
	regs->global_ctrl = 0;
	DO_HERE(my_pool_stop(pool));
	regs->global_ctrl = BIT_ULL(1);
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_EQ(test, regs->global_ctrl, BIT_ULL(1) | BIT_ULL(32));
	test_retire(test, 100, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 110ULL);
	/* The one who stopped it will start it. */
	regs->global_ctrl = 0;
	DO_HERE(my_pool_stop(pool));
	DO_HERE(my_pool_start(pool, BIT_ULL(32)));
	KUNIT_EXPECT_EQ(test, regs->global_ctrl, 0ULL);
	/* But others are started. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	regs->global_ctrl = 0;
	DO_HERE(my_pool_stop(pool));
	DO_HERE(my_pool_start(pool, BIT_ULL(32)));
	KUNIT_EXPECT_EQ(test, regs->global_ctrl, BIT_ULL(2));
	regs->global_ctrl = BIT_ULL(1) | BIT_ULL(2) | BIT_ULL(32);
	DO_HERE(del(other));
	test_retire(test, 1000, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1000ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	/* But of a counter that stands still while another one counts nothing is known. */
	regs->global_ctrl = BIT_ULL(1);
	test_retire(test, 1, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	test_retire(test, 7, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 7ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	/* A control that somebody has written is written again. */
	regs->fixed_ctr_ctrl = 0;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 3, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 3ULL);
	my_pools_go(TEST_CPU);
}

/* Whoever traces writes of MSRs may read an event, in the middle of them. */
static void pool_at_work(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, 0);
	struct my_event_set *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_PTR_EQ(test, pool->set.cpu->working, (struct my_event_set *)NULL);
	pool->set.cpu->working = other;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_PTR_EQ(test, pool->set.cpu->working, other);
	pool->set.cpu->working = NULL;
	pool->inside = true;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	pool->inside = false;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 10ULL);
	DO_HERE(my_pool_stop(pool));
	KUNIT_EXPECT_PTR_EQ(test, pool->set.cpu->working, &pool->set);
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_PTR_EQ(test, pool->set.cpu->working, (struct my_event_set *)NULL);
	DO_HERE(del(event));
	DO_HERE(del(event));
	KUNIT_EXPECT_FALSE(test, pool->inside);
	end_pool(test);
}

/* An event set gets counters that no event has; and gives them back. */
static void pool_withdraws(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc4, BIT_ULL(2)), *other;
	struct my_pmu_cpu *cpu = pool->set.cpu;
	struct my_pmu_why why = {};
	unsigned int started;

	other = new_event(test, 0xc4, BIT_ULL(3));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(TEST_CPU, BIT_ULL(2), &why), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "an event of perf (my_pmu/.../) has just got a counter on CPU 1; try again");
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(TEST_CPU, 0x214, &why), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[2], before.evtsel[2]);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000ebULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(TEST_CPU, BIT_ULL(2), &why), 0);
	/* What a set was refused meanwhile is not tested here. */
	cpu->refused = BIT_ULL(4);
	started = nr_started;
	my_pools_lend(TEST_CPU);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000efULL);
	KUNIT_EXPECT_EQ(test, nr_started, started + 1);
	KUNIT_EXPECT_EQ(test, started_in, 1UL);
	cpu->refused = 0;
	my_pools_lend(TEST_CPU);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000ffULL);
	my_pools_lend(TEST_CPU);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 1, 1);
	DO_HERE(del(event));
	DO_HERE(del(other));
	end_pool(test);
	/* A pool that has none gets some when they are free, unless its CPU is away. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_pools_lend(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_pools_lend(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000ffULL);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
}

/* --- CPUs come and go ------------------------------------------------------------------ */

/* Events that perf has on the CPU meanwhile, as in suspend, count on. */
static void pool_goes(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, 0), *paused, *gone;
	struct my_pmu_why why;

	paused = new_event(test, 0xc4, 0);
	gone = new_event(test, 0xc5, 0);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, paused, false)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, gone, true)), 0);
	test_retire(test, 10, 0);
	my_pools_sleep(true);
	end_pool(test);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	test_retire(test, 100, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 10ULL);
	DO_HERE(my_pool_pause(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	DO_HERE(del(gone));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, gone, true)), -EAGAIN);
	my_pools_sleep(false);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->busy, BIT_ULL(event->idx) | BIT_ULL(paused->idx));
	test_retire(test, 1000, 0);
	DO_HERE(del(event));
	DO_HERE(del(paused));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1000ULL);
	end_pool(test);
}

/* Its counter is another one's when the CPU is back. */
static void pool_returns_elsewhere(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V2_32));
	struct my_pool_event *a = new_event(test, 0xc4, 0), *b = new_event(test, 0xc5, 0);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_cpu *cpu = pool->set.cpu;
	unsigned int nth, nr_lost = 0;
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, a, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
	KUNIT_EXPECT_EQ(test, a->idx, 0);
	test_retire(test, 10, 0);
	end_pool(test);
	cpu->used = BIT_ULL(0);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, cpu->busy, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[0], before.evtsel[0]);
	KUNIT_EXPECT_PTR_EQ(test, a->pool, (struct my_pool *)NULL);
	KUNIT_EXPECT_EQ(test, cpu->lost, 1ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(a)), 0);
	DO_HERE(my_pool_pause(a));
	DO_HERE(del(a));
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	cpu->used = BIT_ULL(1);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, cpu->busy, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, b->idx, 0);
	KUNIT_EXPECT_PTR_EQ(test, b->pool, pool);
	KUNIT_EXPECT_EQ(test, cpu->lost, 1ULL);
	/* Nor does it have one if a register faults. */
	for (nth = 1; !sim->fail_nth; nth++) {
		my_pools_go(TEST_CPU);
		sim->regs = before;
		cpu->used ^= 3;
		sim->fail_nth = nth;
		if (my_pools_come(TEST_CPU, &why)) {
			sim->fail_nth = 0;
			KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
		}
		nr_lost += b->pool ? 0 : 1;
		if (!b->pool && !sim->fail_nth)
			KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
	}
	KUNIT_EXPECT_GT(test, nr_lost, 0U);
	sim->fail_nth = 0;
	DO_HERE(del(b));
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	cpu->used = 0;
	end_pool(test);
}

static void pool_refused(struct kunit *test)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};

	test_run_there(test);
	/* Before there are any. */
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pool_kind(TEST_CPU), -1);
	KUNIT_EXPECT_PTR_EQ(test, HERE(my_pool_here()), (struct my_pool *)NULL);
	KUNIT_EXPECT_EQ(test, my_pools_withdraw(TEST_CPU, 1, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	my_pools_lend(TEST_CPU);
	test_fail_pool = 2;
	KUNIT_EXPECT_EQ(test, my_pools_begin(0x7f, true, ~0ULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	KUNIT_ASSERT_EQ(test, my_pools_begin(0x7f, true, ~0ULL), 0);
	KUNIT_ASSERT_EQ(test, my_pools_begin(0, false, 0), 1);
	sim_reset(TEST_CPU, PMU(V4));
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENOSPC);
	sim_reset(TEST_CPU, PMU(V2_40));
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENOSPC);
	cpu->guard = cpu;
	cpu->used = 0x70000000fULL;
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, why.text, "no counter is left for events of perf (my_pmu/.../)");
	cpu->used = 0;
	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(1);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENODEV);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(why.text, "gp1 stands still"));
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	sim->broken = SIM_SOUND;
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x70000000fULL);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	my_pools_end();
	KUNIT_ASSERT_EQ(test, my_pools_begin(0xff, false, 0x300000003ULL), 0);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x300000003ULL);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	sim_reset(TEST_CPU, &(struct sim_pmu) { .name = "none" });
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENODEV);
	cpu->guard = NULL;
}

/* A narrow counter wraps, and is read in time; with faster events more often. */
static void pool_keeps_up(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V2_32));
	struct my_pool_event *event = new_event(test, 0xc0, 0), *fast;
	unsigned int started = nr_started;
	unsigned int i;
	unsigned long period;

	keep_up(NULL);
	KUNIT_EXPECT_EQ(test, nr_started, started + 1);
	period = started_in;
	KUNIT_EXPECT_LE(test, period, msecs_to_jiffies(16));
	KUNIT_EXPECT_GE(test, period, 1UL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	for (i = 0; i < 5; i++) {
		test_retire(test, 0x70000000, 0);
		sim_pass_ms(2);
		keep_up(NULL);
	}
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 5 * 0x70000000ULL);
	/* The overflow of a wrap is not cleared before the event is looked at. */
	for (i = 0; i < 2; i++) {
		test_retire(test, 0x90000000, 0);
		sim_pass_ms(3);
		DO_HERE(my_pool_stop(pool));
		DO_HERE(my_pool_start(pool, 0));
		if (i)
			KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0x120000000ULL);
		else
			keep_up(NULL);
	}
	/* A wrap is one wrap, also for who comes to the counter before it is started again. */
	test_retire(test, 0x90000000, 0);
	sim_pass_ms(3);
	DO_HERE(my_pool_stop(pool));
	DO_HERE(del(event));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	DO_HERE(del(event));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0x90000000ULL);
	/* Somebody else's counters are just being started. */
	test_retire(test, 1000, 0);
	pool->set.cpu->starting = true;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	pool->set.cpu->starting = false;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1000ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	DO_HERE(del(event));
	started = nr_started;
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)&event, 1), 0);
	KUNIT_EXPECT_EQ(test, nr_started, started);
	fast = new_event(test, 0x60, 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(-1, (void *)&fast, 1), 0);
	KUNIT_EXPECT_EQ(test, nr_started, started + 1);
	keep_up(NULL);
	KUNIT_EXPECT_EQ(test, started_in, 1UL);
	end_pool(test);
}

/* --- faults ---------------------------------------------------------------------------- */

/* All that is done with two events; returns the first error. */
static int do_all(struct my_pool *pool, struct my_pool_event *a, struct my_pool_event *b)
{
	struct my_pmu_why why;
	int first, err;

	first = HERE(my_pool_add(pool, a, true));
	err = HERE(my_pool_add(pool, b, true));
	first = first ?: err;
	if (a->pool) {
		DO_HERE(my_pool_pause(a));
		err = HERE(my_pool_resume(a));
		first = first ?: err;
	}
	HERE(my_pool_read(b));
	keep_up(NULL);
	if (b->pool)
		DO_HERE(del(b));
	if (a->pool)
		DO_HERE(del(a));
	err = my_pools_withdraw(TEST_CPU, BIT_ULL(0), &why);
	first = first ?: err;
	my_pools_lend(TEST_CPU);
	return first;
}

/* Each access faults in turn: afterwards all works as if none had. */
static void pool_faults(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *a = new_event(test, 0xc0, BIT_ULL(0) | BIT_ULL(32)), *b;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	unsigned int nth;

	b = new_event(test, 0xc0, BIT_ULL(32));
	for (nth = 1; nth < 1000; nth++) {
		sim->fail_nth = nth;
		do_all(pool, a, b);
		if (sim->fail_nth)
			break;
		/* If a counter could not be given back the pool does without; not for good. */
		my_pools_go(TEST_CPU);
		sim->regs = before;
		KUNIT_ASSERT_EQ_MSG(test, my_pools_come(TEST_CPU, &why), 0, "%u: %s", nth,
				    why.text);
		HERE(my_pool_read(a));
		HERE(my_pool_read(b));
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, a, true)), 0);
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
		test_retire(test, 100, 0);
		DO_HERE(del(a));
		DO_HERE(del(b));
		KUNIT_EXPECT_EQ_MSG(test, HERE(my_pool_read(a)), 100ULL, "%u", nth);
		KUNIT_EXPECT_EQ_MSG(test, HERE(my_pool_read(b)), 100ULL, "%u", nth);
		/* All is to be programmed anew. */
		my_pools_go(TEST_CPU);
		sim->regs = before;
		KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	}
	KUNIT_EXPECT_GT(test, nth, 50U);
	sim->fail_nth = 0;
	sim->wrong = 0;
}

/* Likewise while the CPU goes and comes with two events on it. */
static void pool_goes_with_faults(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V5_ONE_OF_EACH));
	struct my_pool_event *a = new_event(test, 0x3c, 0), *b = new_event(test, 0xc0, 0);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	unsigned int nth, going = 0;
	bool coming = true;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, a, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, b, true)), 0);
	for (nth = 1; coming; nth++) {
		sim->fail_nth = nth;
		my_pools_go(TEST_CPU);
		going += sim->fail_nth ? 0 : 1;
		sim->regs = before;
		sim->fail_nth = nth;
		if (my_pools_come(TEST_CPU, &why)) {
			sim->fail_nth = 0;
			sim->regs = before;
			KUNIT_ASSERT_EQ_MSG(test, my_pools_come(TEST_CPU, &why), 0, "%u: %s",
					    nth, why.text);
		}
		coming = !sim->fail_nth;
		KUNIT_ASSERT_EQ(test, pool->set.cpu->busy, BIT_ULL(0) | BIT_ULL(33));
	}
	KUNIT_EXPECT_GT(test, going, 10U);
	KUNIT_EXPECT_GT(test, nth, 100U);
	KUNIT_EXPECT_GT(test, pool->set.cpu->lost, 0ULL);
	sim->fail_nth = 0;
	DO_HERE(del(b));
	DO_HERE(del(a));
	sim->wrong = 0;
}

/* A counter that does not keep an event is no counter for it; nor does one move there. */
static void pool_control_lost(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, BIT_ULL(1)), *only;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	/* The last access of ops->enable, and all that would undo it. */
	sim->fail_nth = 7;
	sim->fail_all_after = true;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EIO);
	KUNIT_EXPECT_EQ(test, sim->regs.evtsel[1], 0x4300c0ULL);
	sim->fail_nth = 0;
	sim->fail_all_after = false;
	KUNIT_EXPECT_EQ(test, pool->held, 0ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, pool->held, BIT_ULL(1));
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	sim->regs = before;
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	sim->broken = SIM_CONTROL_IGNORES;
	sim->broken_counters = BIT_ULL(1);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EIO);
	sim->broken = SIM_SOUND;
	event = new_event(test, 0xc0, BIT_ULL(1) | BIT_ULL(2));
	only = new_event(test, 0xc0, BIT_ULL(1));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_ASSERT_EQ(test, event->idx, 2);
	DO_HERE(del(event));
	event->idx = 1;
	pool->holds[1] = event->id;
	pool->set.event[1].hw.config = 0;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_ASSERT_EQ(test, event->idx, 1);
	sim->broken = SIM_CONTROL_IGNORES;
	sim->broken_counters = BIT_ULL(2);
	sim->regs.evtsel[2] = 0;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, only, true)), -EIO);
	KUNIT_EXPECT_EQ(test, event->idx, 1);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 10ULL);
	/* Nor can it stay where it was. */
	sim->broken_counters = BIT_ULL(2) | BIT_ULL(1);
	sim->regs.evtsel[1] = 0;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, only, true)), -EIO);
	KUNIT_EXPECT_EQ(test, event->idx, 1);
	KUNIT_EXPECT_PTR_EQ(test, pool->on[1], event);
	sim->broken = SIM_SOUND;
	DO_HERE(del(event));
	end_pool(test);
}

/* --- samples --------------------------------------------------------------------------- */

/**
 * struct seen - what the callback was told
 * @ip: where the CPU was
 * @last: events since the sample before
 * @busy: the CPU was at work on the pool
 */
struct seen {
	u64 ip;
	u32 last;
	bool busy;
};

static struct seen seen[64];
static unsigned int nr_seen;
static u64 peeked;		/* what it has found the event to have counted */
static u32 next_period;		/* what it asks for; 0: as before */
static bool records;

static bool see_sample(struct my_pool_event *event, bool busy, struct pt_regs *regs)
{
	seen[nr_seen++ % ARRAY_SIZE(seen)] = (struct seen) {
		.ip = regs->ip, .last = event->last, .busy = busy };
	peeked += my_pool_peek(event);
	event->attr.period = next_period ?: event->attr.period;
	return records;
}

/* A pool whose counters may interrupt. */
static struct my_pool *fresh_pmis(struct kunit *test, const struct sim_pmu *pmu, bool freeze)
{
	struct my_pool *pool = fresh_pool(test, pmu);
	struct my_pmu_why why = {};

	nr_seen = 0;
	peeked = 0;
	next_period = 0;
	records = true;
	my_pmi_freeze = freeze;
	KUNIT_ASSERT_EQ_MSG(test, my_pools_take_pmis(&why), 0, "%s", why.text);
	return pool;
}

/* The end of that. */
static void end_pmis(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	my_pools_go(0);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	my_pools_end();
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
	test_expect_good_manners(test);
}

static struct my_pool_event *new_period(struct kunit *test, u32 period, u64 allowed)
{
	struct my_pool_event *event = new_event(test, 0xc0, allowed);

	event->attr.period = period;
	event->attr.exclude_kernel = true;
	event->sample = see_sample;
	return event;
}

/* Instructions of user mode, @step at a time. */
static void run_steps(struct kunit *test, unsigned int steps, u64 step)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned long flags;

	local_irq_save(flags);
	for (; steps; steps--) {
		sim->ip += step;
		sim_retire(sim, 0xc0, 0x00, true, step);
	}
	local_irq_restore(flags);
}

static void samples(struct kunit *test, const struct sim_pmu *pmu, u64 allowed, bool freeze)
{
	struct my_pool *pool = fresh_pmis(test, pmu, freeze);
	struct my_pool_event *event = new_period(test, 1000, allowed);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 counted, start = sim->ip;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	run_steps(test, 2500, 7);
	KUNIT_EXPECT_EQ(test, nr_seen, 17U);
	for (i = 0; i < min(nr_seen, 17U); i++) {
		KUNIT_EXPECT_EQ(test, seen[i].ip - start, DIV_ROUND_UP(1000ULL * (i + 1), 7) * 7);
		KUNIT_EXPECT_EQ(test, seen[i].last, 1000U);
		KUNIT_EXPECT_FALSE(test, seen[i].busy);
	}
	KUNIT_EXPECT_EQ(test, peeked, 17003ULL);
	counted = HERE(my_pool_read(event));
	KUNIT_EXPECT_EQ(test, peeked + counted, 17500ULL);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, event->left, 500ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 0ULL);
	/* It does not interrupt any more, even if somebody else starts it. */
	if (allowed == BIT_ULL(0))
		KUNIT_EXPECT_EQ(test, sim->regs.evtsel[0] & BIT(20), 0ULL);
	else
		KUNIT_EXPECT_EQ(test, sim->regs.fixed_ctr_ctrl & BIT(3), 0ULL);
	KUNIT_EXPECT_EQ(test, sim->unknown | sim->dropped, 0U);
	/* An overflow from before us must not look like one of ours. */
	before.global_status &= ~allowed;
	end_pmis(test);
}

/* Each overflow is one, at its place; on each kind of counter, in both orders. */
static void pool_samples(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;

	samples(test, pmu, BIT_ULL(0), false);
	if (pmu->fixed && pmu->version < 6)
		samples(test, pmu, BIT_ULL(32), false);
	if (pmu->version >= 4 && pmu->pdcm)
		samples(test, pmu, BIT_ULL(0), true);
}

/* What is left of a period goes with the event: off the counter, to another one, and back. */
static void pool_samples_follow(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, BIT_ULL(1) | BIT_ULL(2));
	struct my_pool_event *twin = new_period(test, 700, BIT_ULL(1)), *other, *again;
	unsigned int turn;

	other = new_event(test, 0xc4, BIT_ULL(2));
	for (turn = 0; turn < 100; turn++) {
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
		run_steps(test, 13, 7);
		/* It moves; or it goes, and somebody else has its counter. */
		if (turn % 2)
			KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
		run_steps(test, 1, 9);
		if (turn % 2)
			DO_HERE(del(other));
		DO_HERE(del(event));
		KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, twin, true)), 0);
		run_steps(test, 10, 1);
		DO_HERE(my_pool_pause(twin));
		run_steps(test, 1000, 1);
		KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(twin)), 0);
		run_steps(test, 4, 1);
		DO_HERE(del(twin));
	}
	KUNIT_EXPECT_EQ(test, nr_seen, 10U + 2U);
	KUNIT_EXPECT_EQ(test, event->left, 1000ULL);
	KUNIT_EXPECT_EQ(test, twin->left, 700ULL);
	KUNIT_EXPECT_EQ(test, pool->set.periods | pool->set.cpu->interrupts, 0ULL);
	/* Of two that count the same, as those of a parent and its child, each has its own. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	again = new_event(test, 0xc4, 0);
	again->id = other->id;
	again->idx = other->idx;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, again, true)), 0);
	KUNIT_EXPECT_NE(test, again->idx, other->idx);
	DO_HERE(del(again));
	DO_HERE(del(other));
	/* The next one there has none. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_EXPECT_EQ(test, pool->set.event[2].attr.period, 0U);
	DO_HERE(del(other));
	end_pmis(test);
}

/* With a CPU that goes and comes, too. */
static void pool_samples_return(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), true);
	struct my_pool_event *event = new_period(test, 1000, 0);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	bool faulted = true;
	unsigned int nth;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	run_steps(test, 1, 400);
	KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->pmi_users, 0U);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	run_steps(test, 1, 10000);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	KUNIT_EXPECT_TRUE(test, pool->pmis);
	run_steps(test, 1, 599);
	KUNIT_EXPECT_EQ(test, nr_seen, 0U);
	run_steps(test, 1, 1);
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	/* If a register faults it stays, and does not count. */
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	for (nth = 1; faulted; nth++) {
		KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
		sim->regs = before;
		sim->fail_nth = nth;
		my_pools_come(TEST_CPU, &(struct my_pmu_why) {});
		faulted = !sim->fail_nth;
		sim->fail_nth = 0;
		/* It has no counter if there are no interrupts. */
		if (faulted && (!event->pool || pool->set.offline)) {
			KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
			sim->regs = before;
			KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
		}
		if (!event->pool)
			KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	}
	KUNIT_EXPECT_GT(test, pool->set.cpu->lost, 0ULL);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, peeked, 1000ULL);
	/* Asked for once more, it has them. */
	KUNIT_EXPECT_EQ(test, my_pools_take_pmis(&(struct my_pmu_why) {}), 0);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->pmi_users, 1U);
	end_pmis(test);
}

/*
 * When the CPU is back one event's counter is somebody else's, and the other's does not tell of
 * its overflows any more: the first one gets that, the other none.
 */
static void pool_samples_cross(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *count = new_event(test, 0xc4, BIT_ULL(0) | BIT_ULL(1));
	struct my_pool_event *period = new_period(test, 1000, BIT_ULL(1));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_cpu *cpu = pool->set.cpu;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, count, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, period, true)), 0);
	KUNIT_ASSERT_EQ(test, count->idx, 0);
	KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
	cpu->used = BIT_ULL(0);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = BIT_ULL(1);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	sim->broken = SIM_SOUND;
	KUNIT_EXPECT_PTR_EQ(test, period->pool, (struct my_pool *)NULL);
	KUNIT_EXPECT_PTR_EQ(test, pool->on[1], count);
	KUNIT_EXPECT_EQ(test, cpu->busy, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, cpu->lost, 1ULL);
	DO_HERE(del(period));
	KUNIT_EXPECT_EQ(test, cpu->busy, BIT_ULL(1));
	DO_HERE(del(count));
	KUNIT_EXPECT_EQ(test, cpu->busy, 0ULL);
	cpu->used = 0;
	end_pmis(test);
}

/* A period that is changed in the callback is the one after the next. */
static void pool_samples_change(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, 0), *other;
	u64 start = sim_cpu(TEST_CPU)->ip;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	next_period = 300;
	run_steps(test, 2600, 1);
	KUNIT_ASSERT_EQ(test, nr_seen, 4U);
	KUNIT_EXPECT_EQ(test, seen[1].ip - start, 2000ULL);
	KUNIT_EXPECT_EQ(test, seen[1].last, 1000U);
	KUNIT_EXPECT_EQ(test, seen[2].ip - start, 2300ULL);
	KUNIT_EXPECT_EQ(test, seen[2].last, 300U);
	KUNIT_EXPECT_EQ(test, seen[3].ip - start, 2600ULL);
	/* While it does not run the caller may change both. */
	DO_HERE(my_pool_pause(event));
	event->attr.period = 50;
	event->left = 20;
	event->last = 20;
	next_period = 0;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	run_steps(test, 70, 1);
	KUNIT_ASSERT_EQ(test, nr_seen, 6U);
	KUNIT_EXPECT_EQ(test, seen[4].ip - start, 2620ULL);
	KUNIT_EXPECT_EQ(test, seen[4].last, 20U);
	KUNIT_EXPECT_EQ(test, seen[5].ip - start, 2670ULL);
	KUNIT_EXPECT_EQ(test, seen[5].last, 50U);
	DO_HERE(del(event));
	/* With a short period its NMIs may be all that the CPU does. */
	other = new_period(test, 40000, BIT_ULL(0));
	other->attr.exclude_kernel = false;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->may_stand & 1, 0UL);
	next_period = 300;
	run_steps(test, 40, 1000);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->may_stand & 1, 1UL);
	next_period = 50000;
	run_steps(test, 40, 1000);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->may_stand & 1, 0UL);
	DO_HERE(del(other));
	end_pmis(test);
}

static void do_nothing(struct my_restart *restart)
{
}

/* An event set's PMIs disturb its self-test when it comes: they wait. */
static void pool_comes_disturbed(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_event_set *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct my_pmu_cpu *cpu = pool->set.cpu;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event *event;
	struct my_pmu_why why = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
	my_event_set_init(other, cpu);
	my_restart_init(&other->restart, do_nothing);
	event = &other->event[0];
	event->set = other;
	event->hw.idx = 7;
	event->attr = (struct my_perf_event_attr) { .config = 0xc0, .period = 1000 };
	cpu->pmu.ops->encode(&cpu->pmu, &event->attr, &event->hw);
	cpu->used = BIT_ULL(7);
	sim->disturb = 500;
	sim->disturb_calls = 0xaaaa;
	sim->known_codes = 0;
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), -ENODEV);
	sim->known_codes = 0;
	cpu->interrupting[7] = event;
	cpu->interrupts = BIT_ULL(7);
	KUNIT_EXPECT_EQ_MSG(test, my_pools_come(TEST_CPU, &why), 0, "%s", why.text);
	KUNIT_EXPECT_EQ(test, cpu->interrupts, 0ULL);
	KUNIT_EXPECT_EQ(test, other->period[0].throttles, 1ULL);
	my_restart_cancel(&other->restart);
	cpu->used = 0;
	sim->regs.evtsel[7] = before.evtsel[7];
	sim->regs.pmc[7] = before.pmc[7];
	end_pool(test);
}

/* An NMI in the middle of work on the pool writes the sample, and leaves the count to that. */
static void pool_samples_busy(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, BIT_ULL(0)), *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 counted;

	other = new_event(test, 0xc0, BIT_ULL(1));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	run_steps(test, 1, 990);
	sim->skid = 3;
	run_steps(test, 1, 15);
	next_period = 1000;
	/* It comes in this. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	sim->skid = 0;
	KUNIT_ASSERT_EQ(test, nr_seen, 1U);
	KUNIT_EXPECT_TRUE(test, seen[0].busy);
	KUNIT_EXPECT_EQ(test, peeked, 0ULL);
	DO_HERE(my_pool_stop(pool));
	DO_HERE(del(other));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	DO_HERE(my_pool_start(pool, 0));
	run_steps(test, 994, 1);
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	run_steps(test, 1, 1);
	KUNIT_EXPECT_EQ(test, nr_seen, 2U);
	counted = HERE(my_pool_read(event));
	KUNIT_EXPECT_EQ(test, peeked + counted, 2000ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 0ULL);
	/* Or after that: it has found the overflow, and the NMI writes the sample. */
	run_steps(test, 1, 990);
	sim->skid = 100;
	run_steps(test, 1, 15);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1005ULL);
	KUNIT_EXPECT_EQ(test, nr_seen, 2U);
	sim->skid = 0;
	DO_HERE(sim_nmi_comes(sim));
	KUNIT_EXPECT_EQ(test, nr_seen, 3U);
	KUNIT_EXPECT_FALSE(test, seen[2].busy);
	/* Or in the middle of it, when it has. */
	run_steps(test, 1, 990);
	sim->skid = 100;
	run_steps(test, 1, 10);
	next_period = 900;
	DO_HERE(my_pool_stop(pool));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1000ULL);
	sim->skid = 0;
	DO_HERE(sim_nmi_comes(sim));
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_EQ(test, nr_seen, 4U);
	KUNIT_EXPECT_TRUE(test, seen[3].busy);
	KUNIT_EXPECT_EQ(test, event->last, 1000U);
	next_period = 1000;
	pool->set.event[0].attr.period = 1000;
	/* Or the event has gone before. */
	run_steps(test, 1, 990);
	sim->skid = 100;
	run_steps(test, 1, 10);
	DO_HERE(del(event));
	sim->skid = 0;
	DO_HERE(sim_nmi_comes(sim));
	KUNIT_EXPECT_EQ(test, nr_seen, 4U);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 1ULL);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
	KUNIT_EXPECT_EQ(test, event->left, 995ULL);
	/* And the next one on that counter has nothing to do with it. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & 1, 0ULL);
	run_steps(test, 1, 995);
	KUNIT_EXPECT_EQ(test, nr_seen, 5U);
	DO_HERE(del(event));
	DO_HERE(del(other));
	end_pmis(test);
}

static void pool_samples_lost(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, 0);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	records = false;
	run_steps(test, 1, 1000);
	records = true;
	run_steps(test, 1, 2000);
	DO_HERE(my_pool_pause(event));
	KUNIT_EXPECT_EQ(test, nr_seen, 2U);
	/* One was not recorded, and two were one. */
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 2ULL);
	/* A PMI that does not come: at the next stop, if that is not too soon, it is given up. */
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), 0);
	sim->regs.lvtpc |= SIM_LVTPC_MASKED;
	run_steps(test, 1, 1000);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1000ULL);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_TRUE(test, sim->regs.lvtpc & SIM_LVTPC_MASKED);
	/* However often there is a stop. */
	for (i = 0; i < NSEC_PER_MSEC / HELD_CLOCK_NS + 1; i++) {
		sim_now();
		if (i % 300 == 0)
			KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	}
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_FALSE(test, sim->regs.lvtpc & SIM_LVTPC_MASKED);
	run_steps(test, 1, 1000);
	KUNIT_EXPECT_EQ(test, nr_seen, 3U);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 3ULL);
	/* Nothing runs any more, and its overflow is not left. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->skid = 100;
	run_steps(test, 1, 1000);
	KUNIT_EXPECT_NE(test, sim->regs.global_status & BIT_ULL(event->idx), 0ULL);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT_ULL(event->idx), 0ULL);
	sim->skid = 0;
	DO_HERE(sim_nmi_comes(sim));
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
	end_pmis(test);
}

static bool comes_back(const struct my_pool *pool)
{
	unsigned int i;

	for (i = 0; i < 500 && READ_ONCE(pool->set.period[0].throttled); i++)
		usleep_range(1000, 2000);
	return !READ_ONCE(pool->set.period[0].throttled);
}

/* Too many: there are none for a tick; what is programmed meanwhile interrupts again. */
static void pool_samples_storm(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, BIT_ULL(0)), *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned long flags;

	other = new_period(test, 1000000, BIT_ULL(1));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	local_irq_save(flags);
	pool->set.cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	/* It overflows without a PMI: that has no sample. */
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	KUNIT_EXPECT_TRUE(test, comes_back(pool));
	KUNIT_EXPECT_EQ(test, pool->set.period[0].lost, 1ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT_ULL(0), 0ULL);
	KUNIT_EXPECT_TRUE(test, sim->regs.evtsel[0] & BIT(20));
	pool->set.cpu->storm = (struct my_pmi_storm) {};
	run_steps(test, 1, 1000);
	KUNIT_EXPECT_EQ(test, nr_seen, 2U);
	/* Likewise on a counter of whose wraps nothing is known. */
	pool->set.cpu->overflow_reliable &= ~BIT_ULL(0);
	local_irq_save(flags);
	pool->set.cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, comes_back(pool));
	KUNIT_EXPECT_EQ(test, nr_seen, 3U);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT_ULL(0), 0ULL);
	pool->set.cpu->overflow_reliable |= BIT_ULL(0);
	/* It goes while it is throttled. */
	local_irq_save(flags);
	pool->set.cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	KUNIT_EXPECT_FALSE(test, sim->regs.evtsel[0] & BIT(20));
	sim_retire(sim, 0xc0, 0x00, true, 2000);
	del(event);
	KUNIT_EXPECT_EQ(test, my_pool_add(pool, event, true), 0);
	pool->set.cpu->storm = (struct my_pmi_storm) {};
	KUNIT_EXPECT_TRUE(test, sim->regs.evtsel[0] & BIT(20));
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, nr_seen, 5U);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 4ULL);
	msleep(20);	/* the timer finds nothing to do */
	/* If a register faults it is tried again. */
	local_irq_save(flags);
	pool->set.cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	pool->set.cpu->storm = (struct my_pmi_storm) {};
	sim->fail_reg = 0x186;
	local_irq_restore(flags);
	msleep(20);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(pool->set.period[0].throttled));
	sim->fail_reg = 0;
	KUNIT_EXPECT_TRUE(test, comes_back(pool));
	DO_HERE(del(event));
	DO_HERE(del(other));
	end_pmis(test);
}

/* Another event has overflowed, and its NMI is on its way, when the one may interrupt again. */
static void pool_samples_storm_other(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_period(test, 1000, BIT_ULL(0)), *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned long flags;

	other = new_period(test, 1500, BIT_ULL(1));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	local_irq_save(flags);
	pool->set.cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim_retire(sim, 0xc0, 0x00, true, 1000);
	pool->set.cpu->storm = (struct my_pmi_storm) {};
	sim->skid = SIM_ACCESSES;
	sim_retire(sim, 0xc0, 0x00, true, 500);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, comes_back(pool));
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	sim->skid = 0;
	DO_HERE(sim_nmi_comes(sim));
	KUNIT_EXPECT_EQ(test, nr_seen, 2U);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost_samples, 0ULL);
	DO_HERE(del(event));
	DO_HERE(del(other));
	end_pmis(test);
}

/* Counters that do not run for us may run all the same. */
static void pool_stands(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_event(test, 0xc0, BIT_ULL(0)), *period, *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	period = new_period(test, 1000, BIT_ULL(1));
	other = new_event(test, 0xc0, BIT_ULL(2));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, period, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	DO_HERE(del(other));
	DO_HERE(del(event));
	DO_HERE(del(period));
	/* From before. */
	sim->insns_per_access = 10;
	sim->regs.global_ctrl |= BIT_ULL(0) | BIT_ULL(2);
	test_retire(test, 50, 0);
	DO_HERE(my_pool_stop(pool));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl & (BIT_ULL(0) | BIT_ULL(2)), 0ULL);
	DO_HERE(my_pool_start(pool, 0));
	test_retire(test, 100, 0);
	DO_HERE(my_pool_stop(pool));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), HERE(my_pool_read(other)));
	DO_HERE(del(event));
	DO_HERE(del(other));
	DO_HERE(my_pool_start(pool, 0));
	sim->insns_per_access = 0;
	/* Somebody starts them before we do. */
	DO_HERE(my_pool_stop(pool));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.global_ctrl |= BIT_ULL(0);
	test_retire(test, 7, 0);
	DO_HERE(my_pool_start(pool, 0));
	run_steps(test, 1, 1000);
	DO_HERE(my_pool_stop(pool));
	/* They run all the same: that is counted.  One that has no event stops again. */
	sim->regs.global_ctrl |= BIT_ULL(0) | BIT_ULL(2);
	test_retire(test, 5, 0);
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl & (BIT_ULL(0) | BIT_ULL(2)), BIT_ULL(0));
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 1005ULL);
	/* One that is started before we do and wraps has not wrapped for the event. */
	DO_HERE(my_pool_stop(pool));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.pmc[0] = GENMASK_ULL(47, 0);
	sim->regs.global_ctrl |= BIT_ULL(0);
	test_retire(test, 7, 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & 1, 1ULL);
	DO_HERE(my_pool_start(pool, 0));
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & 1, 0ULL);
	test_retire(test, 3, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 3ULL);
	/* Nor has one that had wrapped at a stop before that. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	DO_HERE(del(other));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.global_status |= BIT_ULL(2);
	DO_HERE(del(event));
	sim->regs.global_status &= ~BIT_ULL(2);
	DO_HERE(my_pool_stop(pool));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(other)), 0ULL);
	DO_HERE(my_pool_start(pool, 0));
	DO_HERE(del(other));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)) | HERE(my_pool_read(other)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, period, true)), 0);
	run_steps(test, 999, 1);
	KUNIT_EXPECT_EQ(test, nr_seen, 0U);
	run_steps(test, 1, 1);
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	DO_HERE(del(period));
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost | pool->set.cpu->lost_samples, 0ULL);
	/* One that has wrapped meanwhile has not done so for the event. */
	sim->regs.pmc[0] = GENMASK_ULL(47, 0);
	sim->regs.global_ctrl |= BIT_ULL(0);
	test_retire(test, 7, 0);
	sim->regs.global_ctrl &= ~BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & 1, 1ULL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & 1, 0ULL);
	test_retire(test, 3, 0);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 3ULL);
	end_pmis(test);
}

/* It is back where it was, but not as it was. */
static void pool_again(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), false);
	struct my_pool_event *event = new_event(test, 0xc0, BIT_ULL(0)), *period, *other;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	period = new_period(test, 1000, BIT_ULL(1));
	other = new_event(test, 0xc0, BIT_ULL(0));
	/* Somebody has its counter. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	DO_HERE(del(event));
	other->id = event->id;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EAGAIN);
	DO_HERE(del(other));
	/* It is not to run. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, false)), 0);
	test_retire(test, 10, 10);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	/* Its control was written. */
	sim->regs.evtsel[0] ^= 1;
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 10, 10);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 20ULL);
	/* Somebody stops it, and not by stopping all. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.global_ctrl ^= BIT_ULL(0) | BIT_ULL(5);
	test_retire(test, 10, 10);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	sim->regs.global_ctrl ^= BIT_ULL(5);
	pool->set.cpu->lost = 0;
	/* It cannot be read: what it has counted, and for how long, is not lost. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim_pass_ms(2);
	sim->regs.pmc[0] += BIT_ULL(30);
	sim->fail_reg = 0x186;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	sim->fail_reg = 0;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), BIT_ULL(30));
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 0ULL);
	/* As far, but in no time. */
	sim->regs.pmc[0] += BIT_ULL(30);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	/* Nor does the time count that was before a look at which all was as usual. */
	sim_pass_ms(2);
	test_retire(test, 10, 10);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 20ULL);
	sim->regs.pmc[0] += BIT_ULL(30);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 2ULL);
	pool->set.cpu->lost = 0;
	DO_HERE(del(event));
	/* It has wrapped, and shows more than before: how often is not known. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.global_status |= BIT_ULL(0);
	test_retire(test, 10, 10);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	pool->set.cpu->lost = 0;
	/* Far, in no time: that is somebody else's work, also if it counts on. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->regs.pmc[0] += BIT_ULL(40);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 1ULL);
	sim->regs.pmc[0] += BIT_ULL(40);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 0ULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost, 2ULL);
	pool->set.cpu->lost = 0;
	/* Its period has not begun. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, period, false)), 0);
	DO_HERE(del(period));
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, period, true)), 0);
	run_steps(test, 1, 1000);
	KUNIT_EXPECT_EQ(test, nr_seen, 1U);
	DO_HERE(del(period));
	KUNIT_EXPECT_EQ(test, pool->set.cpu->lost | pool->set.cpu->lost_samples, 0ULL);
	end_pmis(test);
}

/* Where there is no interrupt, or a counter's overflow cannot be told, all else counts. */
static void pool_samples_refused(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_period(test, 1000, BIT_ULL(0)), *other;
	const struct my_pool_event *members[1] = { event };
	struct my_pmu_why why = {};

	other = new_event(test, 0xc0, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, my_pools_accept(TEST_CPU, members, 1), -EINVAL);
	sim_without_apic = true;
	KUNIT_EXPECT_EQ(test, my_pools_take_pmis(&why), -ENODEV);
	sim_without_apic = false;
	/* It does not freeze. */
	sim_cpu(TEST_CPU)->fail_reg = 0x1d9;
	my_pmi_freeze = true;
	KUNIT_EXPECT_EQ(test, my_pools_take_pmis(&why), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	/* But another CPU's do. */
	KUNIT_ASSERT_EQ(test, my_pools_come(0, &why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_take_pmis(&why), 0);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, other, true)), 0);
	DO_HERE(del(other));
	/* Nor when it is back. */
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	sim_cpu(TEST_CPU)->fail_reg = 0;
	my_pmi_freeze = false;
	KUNIT_EXPECT_EQ(test, my_pools_take_pmis(&why), 0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(TEST_CPU, members, 1), 0);
	pool->set.cpu->overflow_reliable &= ~BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(TEST_CPU, members, 1), -EINVAL);
	pool->set.cpu->overflow_unknown |= BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, my_pools_accept(TEST_CPU, members, 1), 0);
	/* Its bit, which was set before, goes. */
	sim_cpu(TEST_CPU)->regs.global_status |= BIT_ULL(0);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.global_status & 1, 0ULL);
	DO_HERE(del(event));
	/* Its counter cannot be written. */
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, false)), 0);
	sim_cpu(TEST_CPU)->fail_reg = pool->set.event[0].hw.event_base;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_resume(event)), -EIO);
	DO_HERE(del(event));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_add(pool, event, true)), -EIO);
	KUNIT_EXPECT_PTR_EQ(test, event->pool, (struct my_pool *)NULL);
	KUNIT_EXPECT_EQ(test, pool->set.cpu->busy | pool->set.cpu->interrupts, 0ULL);
	sim_cpu(TEST_CPU)->fail_reg = 0;
	end_pmis(test);
}

/* Registers that fault when the CPU goes. */
static void pool_samples_go_with_faults(struct kunit *test)
{
	struct my_pool *pool = fresh_pmis(test, PMU(V4), true);
	struct my_pool_event *event = new_period(test, 1000, 0);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	sim->fail_reg = 0x1d9;
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), -EIO);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	sim->fail_reg = 0;
	sim->regs = before;
	/* An event with a period cannot stay then. */
	sim->fail_reg = 0x1d9;
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	KUNIT_EXPECT_FALSE(test, pool->pmis);
	KUNIT_EXPECT_PTR_EQ(test, event->pool, (struct my_pool *)NULL);
	sim->fail_reg = 0;
	KUNIT_ASSERT_EQ(test, my_pools_go(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &(struct my_pmu_why) {}), 0);
	KUNIT_EXPECT_TRUE(test, pool->pmis);
	sim->fail_reg = 0x38f;
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), -EIO);
	sim->fail_reg = 0;
	sim->regs = before;
	end_pmis(test);
}

/* An NMI that is none of ours may read an event. */
static void pool_peeks(struct kunit *test)
{
	struct my_pool *pool = fresh_pool(test, PMU(V4));
	struct my_pool_event *event = new_event(test, 0xc0, BIT_ULL(1));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	KUNIT_ASSERT_EQ(test, HERE(my_pool_add(pool, event, true)), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 10ULL);
	test_retire(test, 100, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_read(event)), 100ULL);
	test_retire(test, 1, 0);
	pool->inside = true;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	pool->inside = false;
	pool->set.cpu->working = &pool->set;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	pool->set.cpu->working = NULL;
	DO_HERE(my_pool_stop(pool));
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	DO_HERE(my_pool_start(pool, 0));
	sim->fail_reg = 1;	/* RDPMC */
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	sim->fail_reg = 0;
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 1ULL);
	/* If somebody else starts its counter. */
	DO_HERE(my_pool_pause(event));
	sim->regs.global_ctrl |= BIT_ULL(1);
	test_retire(test, 7, 0);
	KUNIT_EXPECT_EQ(test, HERE(my_pool_peek(event)), 0ULL);
	sim->regs.global_ctrl &= ~BIT_ULL(1);
	DO_HERE(del(event));
	end_pool(test);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE_PARAM(pool_counts, test_pmu_gen_params),
	KUNIT_CASE_PARAM(pool_group, test_global_gen_params),
	KUNIT_CASE(pool_costs),
	KUNIT_CASE(pool_passes_on),
	KUNIT_CASE(pool_unreliable),
	KUNIT_CASE(pool_pauses),
	KUNIT_CASE(pool_moves),
	KUNIT_CASE(pool_unlike),
	KUNIT_CASE(pool_accepts),
	KUNIT_CASE(pool_beside_perf),
	KUNIT_CASE(pool_at_work),
	KUNIT_CASE(pool_withdraws),
	KUNIT_CASE(pool_goes),
	KUNIT_CASE(pool_returns_elsewhere),
	KUNIT_CASE(pool_refused),
	KUNIT_CASE(pool_keeps_up),
	KUNIT_CASE(pool_faults),
	KUNIT_CASE(pool_goes_with_faults),
	KUNIT_CASE(pool_control_lost),
	KUNIT_CASE_PARAM(pool_samples, test_global_gen_params),
	KUNIT_CASE(pool_samples_follow),
	KUNIT_CASE(pool_samples_return),
	KUNIT_CASE(pool_samples_cross),
	KUNIT_CASE(pool_comes_disturbed),
	KUNIT_CASE(pool_samples_change),
	KUNIT_CASE(pool_samples_busy),
	KUNIT_CASE(pool_samples_lost),
	KUNIT_CASE(pool_samples_storm),
	KUNIT_CASE(pool_samples_storm_other),
	KUNIT_CASE(pool_stands),
	KUNIT_CASE(pool_again),
	KUNIT_CASE(pool_samples_refused),
	KUNIT_CASE(pool_samples_go_with_faults),
	KUNIT_CASE(pool_peeks),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "my_pmu_pool",
	.init = pool_init,
	.exit = pool_exit,
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
