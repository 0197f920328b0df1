#include "example.h"

#include <string.h>

#include "base/memory.h"

#define SERVER "/usr/bin/redis-server!"
#define LIBC   "/lib/x86_64-linux-gnu/libc.so.6!"
#define START                                                                          \
	SERVER "_start;" LIBC "__libc_start_main@../csu/libc-start.c:242+381;" SERVER  \
	       "main@src/server.c:6800+7200;" SERVER "aeMain@src/ae.c:490+496;" SERVER \
	       "aeProcessEvents@src/ae.c:340+439"
#define QUERY                                                                     \
	START ";" SERVER "readQueryFromClient@src/networking.c:2590+2690;" SERVER \
	      "processCommand@src/server.c:3690+4011;" SERVER "call@src/server.c:3380+3420"

static const struct {
	const char *stack;
	uint64_t ms;
} stacks[] = {
	{ QUERY ";" SERVER "dictFind@src/dict.c:500+510", 1210 },
	{ QUERY ";" SERVER "dictFind@src/dict.c:500+512;" SERVER
		"~dictSdsKeyCompare@src/server.c:1280+1290",
	  640 },
	{ QUERY ";" SERVER "setCommand@src/t_string.c:280+290;" SERVER
		"dictFind@src/dict.c:500+510",
	  310 },
	{ QUERY ";" SERVER "setCommand@src/t_string.c:280+301;" LIBC
		"malloc@malloc/malloc.c:3287+3290;" LIBC
		"_int_malloc@malloc/malloc.c:3795+3821",
	  530 },
	{ START ";" SERVER "handleClientsWithPendingWrites@src/networking.c:1960+1990;" LIBC
		"write@../sysdeps/unix/sysv/linux/write.c:24+26",
	  1900 },
	{ START, 90 },
};

static void add_account(struct profile *profile)
{
	static const char *const command[] = { "redis-server", "--port", "7777", "--save", "" };
	static const char *const notes[] = {
		"busybox (pid 4242) is statically linked: its time is not entered"
	};
	static struct stack_tally tally[3]; /* a test may have changed it */
	static const struct stack_tally fresh[] = {
		{ "complete", "reached the outermost frame", 4951 },
		{ "no_rule", "no unwind rule for an address in a mapped file", 9 },
		{ "too_deep",
		  "the stack is deeper than the limit, or than what was copied of it", 0 },
	};
	struct profile_info *info = profile_info(profile);

	memcpy(tally, fresh, sizeof tally);
	*info = (struct profile_info){
		.command = command,
		.command_count = 5,
		.mode = "sample",
		.clock = "cpu",
		.rate_hz = 1000,
		.period_ns = 999983,
		.trigger = "sigtrap",
		.trigger_why = "perf events may be opened here",
		.start_unix_ns = 1763709132000000000,
		.wall_ns = 6200000000,
		.samples = 4960,
		.kernel_cpu_ns = 5102000000,
		.sampled_ns = 4960000000,
		.startup_ns = 18000000,
		.exit_ns = 2000000,
		.unentered_ns = 100000000,
		.kernel_unsampled_ns = 0,
		.unexplained_ns = 22000000,
		.has_unexplained = true,
		.stacks = tally,
		.stack_tally_count = 3,
		.sampling_cost_ns = 31000000,
		.notes = notes,
		.note_count = 1,
		.fathom_version = "0.1.0",
		.host = "Linux 6.1.0-18-amd64 x86_64",
	};
}

void example_init(struct made *made)
{
	*made = (struct made){ .profile = profile_new() };
	made->process =
		profile_add_process(made->profile, &(struct process){ .pid = 4200,
								      .name = "redis-server",
								      .cpu_ns = 5002000000,
								      .period_ns = 999983 });
	made_begin_thread(made, 4200, "redis-server");
	for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
		made_add(made, stacks[i].stack, stacks[i].ms * 1000000, stacks[i].ms);
	made_add(made, "[start-up]", 18000000, 0);
	made_add(made, "[exit]", 2000000, 0);
	made_begin_thread(made, 4203, "bio_lazy_free");
	made_add(made,
		 LIBC "clone3;" LIBC "start_thread@nptl/pthread_create.c:356+442;" SERVER
		      "bioProcessBackgroundJobs@src/bio.c:190+240;" LIBC
		      "cfree@malloc/malloc.c:3350+3391",
		 280000000, 280);
	made->process = profile_add_process(
		made->profile,
		&(struct process){ .pid = 4242,
				   .parent = made->process,
				   .name = "busybox",
				   .cpu_ns = 100000000,
				   .unentered_reason = "it is statically linked" });
	made_begin_thread(made, 4242, "busybox");
	made_add(made, "[not entered: busybox]", 100000000, 0);
	add_account(made->profile);
}

void example_init_hostile(struct made *made)
{
	static const char *const command[] = { "\xff\"\\\n", "" };
	static const char *const notes[] = { "\x1b[2J\xc3" };
	static struct stack_tally tally[] = { { "complete", "whole", UINT64_MAX } };

	*made = (struct made){ .profile = profile_new() };
	made_begin_process(made, -1, "\x1b]0;owned\a");
	made_begin_thread(made, INT32_MAX, "\xf0\x9f\xa6");
	made_add(made, "/tmp/\xfe.so!evil\x1b[31m@\n\xff.c:4294967295+4294967295",
		 UINT64_MAX - 7, UINT64_MAX);
	made_add(made, "caf\xc3\xa9;/b\\xff!\"quoted\\name\"", 3, 0);
	made_add(made, "", 4, 0);
	struct profile_info *info = profile_info(made->profile);
	*info = (struct profile_info){
		.command = command,
		.command_count = 2,
		.rate_hz = UINT64_MAX,
		.period_ns = UINT64_MAX,
		.trigger = "\xff",
		.start_unix_ns = UINT64_MAX - 1,
		.wall_ns = UINT64_MAX,
		.samples = UINT64_MAX,
		.lost = UINT64_MAX - 1,
		.kernel_cpu_ns = UINT64_MAX,
		.sampled_ns = UINT64_MAX,
		.startup_ns = UINT64_MAX,
		.exit_ns = UINT64_MAX - 1,
		.unexplained_ns = INT64_MIN,
		.has_unexplained = true,
		.stacks = tally,
		.stack_tally_count = 1,
		.sampling_cost_ns = UINT64_MAX,
		.notes = notes,
		.note_count = 1,
		.is_unfinished = true,
	};
}

void example_init_trace(struct made *made)
{
	static const char *const command[] = { "python3", "app.py" };

	made_init(made);
	made_add_calls(made, "%<module>@/srv/app/__init__.py:1", 10000000, 1);
	made_add_calls(made, "%<module>@/srv/app/__init__.py:1;%fib@/srv/app/fib.py:3",
		       30000000, 1);
	made_add_calls(made,
		       "%<module>@/srv/app/__init__.py:1;%fib@/srv/app/fib.py:3;"
		       "%fib@/srv/app/fib.py:3",
		       50000000, 1972);
	made_begin_thread(made, 101, "worker");
	made_add_calls(made, "%run@/srv/app/worker.py:3", 5000000, 3);
	made_add_calls(made, "%run@/srv/app/worker.py:3;%math.sin", 4000000, 300000);
	made_add_calls(made, "[outside of traced calls]", 1000000, 0);
	struct profile_info *info = profile_info(made->profile);
	info->command = command;
	info->command_count = 2;
	info->mode = "trace";
	info->clock = "wall";
	info->calls = 301977;
	info->kernel_cpu_ns = 80000000;
	info->wall_ns = 100000000;
}

void example_init_python(struct made *made, const char *source)
{
	static const char *const command[] = { "python3", "app.py" };
	static struct interpreter interpreters[] = {
		{ "python", "3.11.2", "/usr/bin/python3.11", NULL, 3 },
		{ "python", "3.16?", "/opt/bin/python3.16", "CPython 3.16 is not known yet",
		  1 },
	};
	CLEANUP(freep)
	char *run = xasprintf("%%<module>@/srv/app/__init__.py:1+3;"
			      "%%Worker.run@%s:3",
			      source);
	CLEANUP(freep) char *hot = xasprintf("%s+6;%%math.sin;/lib/libm.so.6!__sin_fma", run);
	CLEANUP(freep) char *warm = xasprintf("%s+6", run);
	CLEANUP(freep) char *cool = xasprintf("%s+12", run);

	*made = (struct made){ .profile = profile_new() };
	made->process =
		profile_add_process(made->profile, &(struct process){
							   .pid = 100,
							   .name = "python3",
							   .interpreter = "python 3.11.2",
						   });
	made_begin_thread(made, 100, "python3");
	made_add(made, hot, 60000000, 60);
	made_add(made, warm, 30000000, 30);
	made_add(made, cool, 1000000, 1);
	made_add(made, "%<module>@/srv/jobs/__init__.py:1+9", 9000000, 9);
	struct profile_info *info = profile_info(made->profile);
	info->command = command;
	info->command_count = 2;
	info->interpreters = interpreters;
	info->interpreter_count = 2;
	info->is_folded = true;
	info->start_unix_ns = 1763709132000000000;
	info->wall_ns = 100000000;
	info->sampled_ns = 100000000;
	info->samples = 100;
	info->has_unexplained = false;
}

const char *example_body_of(const char *text)
{
	const char *base = strstr(text, "Percentages are of ");
	const char *head_end = strstr(text, "\n\n");

	return base ? base : head_end ? head_end + 2 : text;
}

static void add_wait(struct made *made, const char *stack, enum thread_state state, uint64_t ms)
{
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .state = state,
							    .ns = ms * 1000000,
							    .samples = 1 });
}

#define HANDLER "%run@/usr/lib/python3.11/threading.py:960+975;%handle@/srv/app/web.py:20+25"

void example_init_waits(struct made *made)
{
	static const char *const command[] = { "python3", "web.py" };

	made_init(made);
	made_begin_thread(made, 101, "handler");
	made_add(made, HANDLER ";[region request];%render@/srv/app/web.py:5+7", 90000000, 9);
	add_wait(made, HANDLER ";[region request];%render@/srv/app/web.py:5+7;futex(GIL)",
		 THREAD_STATE_GIL, 30);
	add_wait(made, HANDLER ";[region request];[region query];read(a socket)",
		 THREAD_STATE_IO, 360);
	add_wait(made, HANDLER ";accept4(a socket)", THREAD_STATE_IO, 20);
	add_wait(made, "[waits for a CPU]", THREAD_STATE_RUNNABLE, 4);
	add_wait(made, HANDLER ";wait4", THREAD_STATE_WAIT, 1);
	for (int i = 0; i < 3; i++) {
		made_begin_thread(made, 102 + i, "pool");
		made_add(made, "%<module>@/srv/app/web.py:1;%take@/srv/app/pool.py:3", 1000000,
			 1);
		add_wait(made, "%<module>@/srv/app/web.py:1;%take@/srv/app/pool.py:3;futex",
			 THREAD_STATE_LOCK, 499);
	}
	struct profile_info *info = profile_info(made->profile);
	info->command = command;
	info->command_count = 2;
	info->mode = "sample";
	info->clock = "wall";
	info->is_wall = true;
	info->rate_hz = 100;
	info->wall_ns = 505000000;
	info->samples = 24;
	info->sampled_ns = 2001000000;
	info->thread_only_ns = 4000000;
	info->kernel_cpu_ns = 93000000;
}
