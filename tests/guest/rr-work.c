// SPDX-License-Identifier: GPL-2.0
/*
 * rr-work threads | signals | forks | exec: what it prints depends on everything that a
 * replay has to bring back: on how threads take turns, on where in a loop signals come,
 * on the order in which children write, on the time and on the TSC. The last word of its
 * output is a hash of all of it.
 *
 * With static linking rr traces each system call; otherwise most of them go through its
 * buffer.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS		4
#define TURNS		300
#define SIGNALS		12
#define CHILDREN	3

static uint64_t hash = 14695981039346656037UL;

static void mix(uint64_t value)
{
	hash = (hash ^ value) * 1099511628211UL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static uint64_t tsc(void)
{
	return __builtin_ia32_rdtsc();
}

/* Branches that nobody can foresee who does not know the state. */
static uint64_t wander(uint64_t state, unsigned int steps)
{
	while (steps--) {
		if (state & 1)
			state = state * 3 + 1;
		else if (state & 2)
			state ^= state << 13;
		else
			state ^= state >> 7;
	}
	return state;
}

/* ---------------------------------------------------------------- threads */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t racy;

static void *one_thread(void *arg)
{
	uint64_t id = (uintptr_t)arg, state = id + tsc();
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		state = wander(state, 200);
		/* No lock: an update may be lost, and the replay has to lose it, too. */
		racy = racy + (state & 0xff);
		if (i % 8 == id)
			sched_yield();
		if (i % 16 == 0) {
			pthread_mutex_lock(&lock);
			mix(id);
			mix(state);
			pthread_mutex_unlock(&lock);
		}
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	uintptr_t i;

	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, one_thread, (void *)i))
			errx(1, "pthread_create");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	mix(racy);
}

/* ---------------------------------------------------------------- signals */

static volatile uint64_t progress;
static volatile sig_atomic_t signals_seen;

static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)info;
	mix(number);
	mix(progress);
	mix(c->uc_mcontext.gregs[REG_RIP]);
	mix(c->uc_mcontext.gregs[REG_EFL]);
	signals_seen++;
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { };

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals_seen < SIGNALS) {
		progress = wander(progress + 1, 50);
		if (progress % 4096 == 0)
			raise(SIGUSR1);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

/* ---------------------------------------------------------------- forks */

static void one_child(int out, unsigned int id)
{
	uint64_t state = id + tsc(), random;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			err(1, "getrandom");
		state = wander(state ^ random, 500) & ~0xfUL;
		state |= id;
		if (write(out, &state, sizeof(state)) != sizeof(state))
			err(1, "write");
	}
}

static void forks(void)
{
	int pipes[2], status;
	unsigned int i;
	uint64_t word;

	if (pipe(pipes))
		err(1, "pipe");
	for (i = 0; i < CHILDREN; i++) {
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			close(pipes[0]);
			one_child(pipes[1], i);
			_exit(i);
		}
	}
	close(pipes[1]);
	while (read(pipes[0], &word, sizeof(word)) == sizeof(word))
		mix(word);
	while (wait(&status) > 0)
		mix(status);
}

/* ---------------------------------------------------------------- exec */

/* Executes itself, so many times. */
static void exec_again(char *program, const char *left)
{
	char next[16];

	if (atoi(left) == 0)
		return;
	snprintf(next, sizeof(next), "%d", atoi(left) - 1);
	printf("exec %s\n", left);
	fflush(stdout);
	execl(program, program, "exec", next, NULL);
	err(1, "%s", program);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(void);
	} rows[] = {
		{ "threads", threads }, { "signals", signals }, { "forks", forks },
	};
	unsigned int i;

	if (argc < 2)
		errx(2, "usage: rr-work threads | signals | forks | exec N");
	mix(now());
	mix(tsc());
	mix(getpid());
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strcmp(argv[1], rows[i].name))
			rows[i].work();
	}
	if (argc > 2)
		exec_again(argv[0], argv[2]);
	mix(wander(hash, 1000));
	mix(now());
	printf("%s %016lx\n", argv[1], hash);
	return 0;
}
