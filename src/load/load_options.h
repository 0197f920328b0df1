/*
 * load_options - how a recording is read and its names are looked up.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Zero means default. */
struct load_options {
	/* Called now and then while addresses are looked up; done == total at the end. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
	/* On this machine, a moment ago: a file that cannot be found now never will be. */
	bool was_just_recorded;
	/*
	 * No report follows: lines and inlined calls that stand in installed debug files are left
	 * for the first that does (unread_lines.h).
	 */
	bool leaves_lines;
	/* The network is not used, whatever DEBUGINFOD_URLS says (symbol/debug_server.h). */
	bool asks_no_servers;
	/* Interpreters' own frames stay where their language's stand (docs/decisions/0016). */
	bool shows_plumbing;
	/* What measuring traced calls took stays in their times. */
	bool has_raw_times;
	/* The profile has its samples' times, too: profile/time_slots.h. */
	bool has_time_slots;
	/* What made threads wait is found out, too (profile/blame.h): every sample is read. */
	bool wants_blame;
};
