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
	/*
	 * It was recorded on this machine, a moment ago: a file that is missing now will never
	 * be found.
	 */
	bool was_just_recorded;
	/*
	 * No report follows: lines and inlined calls in installed debug files are left for the
	 * first that does (unread_lines.h).
	 */
	bool leaves_lines;
	/* The network is not used, whatever DEBUGINFOD_URLS says (symbol/debug_server.h). */
	bool asks_no_servers;
	/*
	 * Interpreters' own frames stay in stacks that have frames of their language
	 * (docs/decisions/0016).
	 */
	bool shows_plumbing;
	/* The cost of tracing stays in the times of traced calls. */
	bool has_raw_times;
	/* The profile has its samples' times, too: profile/time_slots.h. */
	bool has_time_slots;
	/* Finds what made threads wait, too (profile/blame.h): every sample is read. */
	bool wants_blame;
};
