#include "handmade.h"

#include <stdio.h>
#include <string.h>

#include "profile/time_slots.h"
#include "profile/profile.h"

#define MS 1000000ULL

/* A function, with the line being executed in it. */
struct step {
	enum language language;
	struct module_id module;
	const char *name, *file, *plain_name;
	uint32_t line; /* of the definition */
	uint32_t here; /* being executed */
	uint64_t address;
	bool is_inlined;
};

static struct stack_id push(struct profile *profile, struct stack_id parent, struct step step)
{
	struct function_id function = profile_add_function(
		profile, &(struct function){ .language = step.language,
					     .module = step.module,
					     .name = step.name,
					     .file = step.file,
					     .line = step.line,
					     .plain_name = step.plain_name });
	struct frame_id frame =
		profile_add_frame(profile, &(struct frame){ .function = function,
							    .line = step.here,
							    .address = step.address,
							    .is_inlined = step.is_inlined });
	return profile_add_stack(profile, parent, frame);
}

static struct stack_id push_named(struct profile *profile, struct stack_id parent,
				  struct module_id module, const char *name)
{
	return push(profile, parent, (struct step){ .module = module, .name = name });
}

static void weigh(struct profile *profile, struct stack_id stack, struct thread_id thread,
		  uint64_t ns, uint64_t samples)
{
	profile_add_weight(profile, &(struct weight){ .stack = stack,
						      .thread = thread,
						      .ns = ns,
						      .samples = samples });
}

static struct thread_id add_thread(struct profile *profile, int pid, int tid, const char *name)
{
	struct process_id process = { 0 };

	for (uint32_t n = 1; n <= profile_process_count(profile); n++)
		if (profile_get_process(profile, (struct process_id){ n })->pid == pid)
			process.n = n;
	if (process.n == 0)
		process = profile_add_process(profile,
					      &(struct process){ .pid = pid, .name = "prog" });
	return profile_add_thread(
		profile, &(struct thread){ .process = process, .tid = tid, .name = name });
}

static struct module_id add_module(struct profile *profile, const char *path, uint8_t first)
{
	struct module module = { .path = path, .build_id_len = 20 };

	for (uint8_t i = 0; i < 20; i++)
		module.build_id[i] = (uint8_t)(first + i);
	return profile_add_module(profile, &module);
}

static void fill_info(struct profile *profile)
{
	static const char *const command[] = { "./prog", "-n", "3" };
	static const char *const notes[] = { "one process was not entered: static-pie" };
	static struct stack_tally stacks[] = {
		{ "complete", "reached the outermost frame", 9 },
		{ "unreadable", "a frame could not be read", 1 },
	};
	struct profile_info *info = profile_info(profile);

	info->command = command;
	info->command_count = 3;
	info->mode = "sample";
	info->clock = "cpu";
	info->rate_hz = 1000;
	info->period_ns = 999983;
	info->trigger = "sigtrap";
	info->start_unix_ns = 1700000000ULL * 1000000000;
	info->wall_ns = 12 * MS;
	info->samples = 10;
	info->lost = 2;
	info->kernel_cpu_ns = 15 * MS;
	info->sampled_ns = 10 * MS;
	info->startup_ns = 2 * MS;
	info->exit_ns = info->unentered_ns = info->kernel_unsampled_ns = 0;
	info->unexplained_ns = 3 * (int64_t)MS;
	info->has_unexplained = true;
	info->stacks = stacks;
	info->stack_tally_count = 2;
	info->notes = notes;
	info->note_count = 1;
	info->fathom_version = "0.1.0";
	info->host = "Linux 6.1.0 x86_64";
}

static void fill_empty(struct profile *profile)
{
	(void)profile;
}

static void fill_one_frame(struct profile *profile)
{
	struct thread_id thread = add_thread(profile, 7, 7, "prog");

	weigh(profile,
	      push_named(profile, (struct stack_id){ 0 }, (struct module_id){ 0 }, "main"),
	      thread, 5, 1);
}

/* fact calls itself twice; 1 + 2 + 4 ms. */
static void fill_recursion(struct profile *profile)
{
	struct thread_id thread = add_thread(profile, 7, 7, "prog");
	struct module_id prog = add_module(profile, "/opt/prog", 1);
	struct stack_id stack = push_named(profile, (struct stack_id){ 0 }, prog, "main");

	for (uint64_t ms = 1; ms <= 4; ms *= 2) {
		stack = push_named(profile, stack, prog, "fact");
		weigh(profile, stack, thread, ms * MS, ms);
	}
}

/*
 * Two threads, two modules, an inlined call, two lines of one function, a stripped
 * function, Python, Ruby and kernel frames, and start-up time without samples.
 */
static void fill_mixed(struct profile *profile)
{
	struct thread_id first = add_thread(profile, 100, 100, "main"),
			 second = add_thread(profile, 100, 101, "worker");
	struct module_id libz = add_module(profile, "/usr/lib/libz.so.1", 0xa0),
			 prog = add_module(profile, "/opt/prog", 0x01);
	struct stack_id none = { 0 }, main_10, main_11, sort, other;

	fill_info(profile);
	struct step in_main = { .module = prog,
				.name = "main",
				.file = "src/main.c",
				.line = 5,
				.here = 10,
				.address = 0x1139 };
	main_10 = push(profile, none, in_main);
	in_main.here = 11;
	in_main.address = 0x1150;
	main_11 = push(profile, none, in_main);
	struct step in_sort = { .module = prog,
				.name = "sort",
				.file = "src/sort.c",
				.line = 20,
				.here = 30,
				.address = 0x1201 };
	sort = push(profile, main_10, in_sort);
	weigh(profile, sort, first, 2 * MS, 2);
	struct step in_swap = { .module = prog,
				.name = "swap",
				.file = "src/swap.h",
				.line = 3,
				.here = 4,
				.address = 0x1201,
				.is_inlined = true };
	other = push(profile, sort, in_swap);
	weigh(profile, other, first, 1 * MS, 1);
	weigh(profile, other, second, 3 * MS, 3);
	weigh(profile, push(profile, main_11, in_sort), second, 1 * MS, 1);
	time_slots_begin(profile_time_slots(profile), 12 * MS);
	time_slots_add(profile_time_slots(profile), 1 * MS,
		       &(struct slot_row){
			       .stack = sort, .thread = first, .ns = 2 * MS, .samples = 2 });
	time_slots_add(profile_time_slots(profile), 9 * MS,
		       &(struct slot_row){
			       .stack = other, .thread = second, .ns = 3 * MS, .samples = 3 });
	other = push(
		profile, main_11,
		(struct step){ .module = libz, .name = "libz.so.1+0x2f10", .address = 0x2f10 });
	weigh(profile, other, first, 1 * MS, 1);
	other = push(profile, main_11,
		     (struct step){ .language = LANGUAGE_PYTHON,
				    .name = "Job.run",
				    .plain_name = "run",
				    .file = "/srv/job.py",
				    .line = 12,
				    .here = 14 });
	other = push(profile, other,
		     (struct step){ .language = LANGUAGE_RUBY,
				    .name = "each",
				    .file = "/srv/job.rb" });
	weigh(profile, other, first, 1 * MS, 1);
	other = push(profile, main_11,
		     (struct step){ .language = LANGUAGE_KERNEL, .name = "vfs_read" });
	weigh(profile, other, first, 1 * MS, 1);
	other = push(profile, none,
		     (struct step){ .language = LANGUAGE_FATHOM, .name = "[start-up]" });
	weigh(profile, other, first, 2 * MS, 0);
}

static void weigh_state(struct profile *profile, struct stack_id stack, struct thread_id thread,
			enum thread_state state, uint64_t ms)
{
	profile_add_weight(profile, &(struct weight){ .stack = stack,
						      .thread = thread,
						      .state = state,
						      .ns = ms * MS,
						      .samples = 1 });
}

/* The wall clock: work.run runs, wants the GIL and reads; the other thread sleeps. */
static void fill_waits(struct profile *profile)
{
	struct thread_id first = add_thread(profile, 1, 1, "main"),
			 second = add_thread(profile, 1, 2, "idle");
	const struct stack_id none = { 0 };
	const struct stack_id run = push(profile, none,
					 (struct step){ .language = LANGUAGE_PYTHON,
							.name = "run",
							.file = "/srv/a.py",
							.line = 3 });
	const struct stack_id gil =
		push(profile, run,
		     (struct step){ .language = LANGUAGE_KERNEL, .name = "futex(GIL)" });
	const struct stack_id read =
		push(profile, run,
		     (struct step){ .language = LANGUAGE_KERNEL,
				    .name = "read(/var/lib/of/a/program/database.db)" });
	const struct stack_id sleep =
		push(profile, none,
		     (struct step){ .language = LANGUAGE_KERNEL, .name = "clock_nanosleep" });

	fill_info(profile);
	profile_info(profile)->clock = "wall";
	profile_info(profile)->is_wall = true;
	weigh_state(profile, run, first, THREAD_STATE_RUNNING, 2);
	weigh_state(profile, run, first, THREAD_STATE_RUNNABLE, 1);
	weigh_state(profile, gil, first, THREAD_STATE_GIL, 3);
	weigh_state(profile, read, first, THREAD_STATE_IO, 6);
	weigh_state(profile, sleep, second, THREAD_STATE_SLEEP, 13);
	time_slots_begin(profile_time_slots(profile), 12 * MS);
	time_slots_add_wait(profile_time_slots(profile), 12 * MS,
			    &(struct slot_row){ .stack = sleep,
						.thread = second,
						.state = THREAD_STATE_SLEEP,
						.ns = 12 * MS,
						.samples = 1 });
	time_slots_add(profile_time_slots(profile), 2 * MS,
		       &(struct slot_row){
			       .stack = run, .thread = first, .ns = 2 * MS, .samples = 1 });
}

#define SCRIPT "</script><img src=x onerror=alert(1)>"

/* Names as an enemy chooses them. */
static void fill_hostile(struct profile *profile)
{
	static const char *const names[] = {
		SCRIPT,
		"<!--<script>",
		"a;b",
		"new\nline",
		"tab\there",
		"\x1b[31mred",
		"bad\xff utf8",
		"quote\"back\\slash",
		"\xe2\x80\xa8separator",
		"ends in a space ",
		"'-alert(1)-'",
		"operator<< <int, std::less<int>>(int&&)",
		"\xe6\x97\xa5\xe6\x9c\xac",
		"",
		"__proto__",
		"@SCRIPT@ @PROFILE@",
	};
	static const char *const command[] = { SCRIPT };
	static const char *const notes[] = { SCRIPT };
	struct thread_id thread = add_thread(profile, 1, 1, SCRIPT);
	struct module_id module = add_module(profile, SCRIPT, 1);
	struct stack_id stack = { 0 };

	profile_info(profile)->command = command;
	profile_info(profile)->command_count = 1;
	profile_info(profile)->notes = notes;
	profile_info(profile)->note_count = 1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		stack = push(profile, stack,
			     (struct step){ .module = module,
					    .name = names[i],
					    .file = SCRIPT,
					    .line = 1 });
		weigh(profile, stack, thread, 1 * MS, 1);
	}
	add_thread(profile, 2, 2, NULL);
}

/* As compilers make them. */
static void fill_long_names(struct profile *profile)
{
	static const char *const names[] = {
		"std::map<int, std::string>::at(int const&)",
		"std::basic_ostream<char>& std::operator<< <char>(std::basic_ostream<char>&, "
		"char)",
		"bool std::operator< <char>(std::string const&, std::string const&)",
		"(anonymous namespace)::Pool<int>::take(unsigned long, bool)",
		"<alloc::vec::Vec<T> as core::ops::index::Index<I>>::index",
		"void very::long_name::without::any::brackets_at_all",
		"call(std::function<int (char)>, auto (*)() -> decltype(x))::operator()() "
		"const",
		"a name whose brackets > do not ( match < at all ) here",
	};
	struct thread_id thread = add_thread(profile, 7, 7, "prog");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		weigh(profile,
		      push_named(profile, (struct stack_id){ 0 }, (struct module_id){ 0 },
				 names[i]),
		      thread, 8 - i, 1);
	thread = add_thread(profile, 8, 8, "child");
	weigh(profile, (struct stack_id){ 1 }, thread, 1, 1);
}

/* 20,000 calls deep: two functions that call each other. */
static void fill_deep(struct profile *profile)
{
	enum { DEPTH = 20000 };
	struct thread_id thread = add_thread(profile, 7, 7, "prog");
	struct stack_id stack = { 0 };

	for (int i = 0; i < DEPTH; i++)
		stack = push_named(profile, stack, (struct module_id){ 0 },
				   i % 2 ? "odd" : "even");
	weigh(profile, stack, thread, 3 * MS, 3);
	weigh(profile, (struct stack_id){ 1 }, thread, 1 * MS, 1);
}

/* Eight callees in each function, the weights falling off like real ones. */
static void fill_wide(struct profile *profile, uint32_t nodes)
{
	enum { FUNCTIONS = 5000, WIDTH = 8 };
	struct thread_id threads[4];
	struct module_id modules[3] = { add_module(profile, "/opt/prog", 1),
					add_module(profile, "/usr/lib/libc.so.6", 30),
					add_module(profile, "/usr/lib/libz.so.1", 60) };
	struct stack_id parent = { 0 };
	uint32_t state = 1;

	for (int i = 0; i < 4; i++)
		threads[i] = add_thread(profile, 50, 50 + i, "worker");
	for (uint32_t i = 0; i < nodes; i++) {
		char name[32];
		state = state * 1664525 + 1013904223;
		uint32_t function = i < WIDTH ? i : (state >> 8) % FUNCTIONS;
		snprintf(name, sizeof name, "function_%u", function);
		parent.n = i / WIDTH;
		struct stack_id stack =
			push_named(profile, parent, modules[function % 3], name);
		weigh(profile, stack, threads[i % 4], 1 + 1000 * MS / (i + 1), 1);
	}
}

/* An export of it takes several writes. */
static void fill_middling(struct profile *profile)
{
	fill_wide(profile, 20000);
}

static void fill_large(struct profile *profile)
{
	fill_wide(profile, 200000);
}

static void count_calls(struct profile *profile, struct stack_id stack, struct thread_id thread,
			uint64_t ns, uint64_t calls)
{
	profile_add_weight(
		profile,
		&(struct weight){ .stack = stack, .thread = thread, .ns = ns, .calls = calls });
}

/*
 * <module> calls fib once and Tree.walk twice; fib calls itself and len; walk and visit call each
 * other.  A second thread calls len, and five thousand million times abs.
 */
static void fill_trace(struct profile *profile)
{
	const struct step module = {
		.language = LANGUAGE_PYTHON, .name = "<module>", .file = "/srv/a.py", .line = 1
	};
	const struct step fib = { .language = LANGUAGE_PYTHON,
				  .name = "fib",
				  .file = "/srv/a.py",
				  .line = 3,
				  .plain_name = "fib" };
	const struct step walk = { .language = LANGUAGE_PYTHON,
				   .name = "Tree.walk",
				   .file = "/srv/a.py",
				   .line = 9,
				   .plain_name = "walk" };
	const struct step visit = { .language = LANGUAGE_PYTHON,
				    .name = "Tree.visit",
				    .file = "/srv/a.py",
				    .line = 12,
				    .plain_name = "visit" };
	const struct step len = { .language = LANGUAGE_PYTHON,
				  .name = "builtins.len",
				  .plain_name = "<built-in method builtins.len>" };
	const struct step abs = { .language = LANGUAGE_PYTHON,
				  .name = "builtins.abs",
				  .plain_name = "<built-in method builtins.abs>" };
	const struct step outside = { .language = LANGUAGE_FATHOM,
				      .name = "[outside of traced calls]" };
	struct thread_id main = add_thread(profile, 1, 1, "main");
	struct thread_id other = add_thread(profile, 1, 2, "other");
	struct stack_id at_module = push(profile, (struct stack_id){ 0 }, module);
	struct stack_id at_fib = push(profile, at_module, fib);
	struct stack_id in_fib = push(profile, at_fib, fib);
	struct stack_id deep_fib = push(profile, in_fib, fib);
	struct stack_id at_walk = push(profile, at_module, walk);
	struct stack_id at_visit = push(profile, at_walk, visit);
	struct stack_id in_walk = push(profile, at_visit, walk);

	profile_info(profile)->mode = "trace";
	count_calls(profile, at_module, main, 10 * MS, 1);
	count_calls(profile, at_fib, main, 20 * MS, 1);
	count_calls(profile, in_fib, main, 30 * MS, 2);
	count_calls(profile, deep_fib, main, 40 * MS, 4);
	count_calls(profile, push(profile, deep_fib, len), main, 5 * MS, 4);
	count_calls(profile, at_walk, main, 7 * MS, 2);
	count_calls(profile, at_visit, main, 8 * MS, 6);
	count_calls(profile, in_walk, main, 9 * MS, 6);
	count_calls(profile, push(profile, (struct stack_id){ 0 }, len), other, 1 * MS, 3);
	count_calls(profile, push(profile, (struct stack_id){ 0 }, abs), other, 1 * MS,
		    5000000000);
	count_calls(profile, push(profile, (struct stack_id){ 0 }, outside), other, 99 * MS, 0);
}

const struct handmade handmade_profiles[] = {
	{ "empty", fill_empty },           { "one frame", fill_one_frame },
	{ "recursion", fill_recursion },   { "mixed", fill_mixed },
	{ "waits", fill_waits },           { "hostile", fill_hostile },
	{ "long names", fill_long_names }, { "deep", fill_deep },
	{ "middling", fill_middling },     { "large", fill_large },
	{ "trace", fill_trace },           { NULL, NULL },
};

struct profile *handmade_profile(const char *name)
{
	for (const struct handmade *row = handmade_profiles; row->name; row++) {
		if (strcmp(row->name, name) != 0)
			continue;
		struct profile *profile = profile_new();
		row->fill(profile);
		return profile;
	}
	return NULL;
}
