/*
 * hot_paths - the call tree of the user's own code, with one node for all library code between two
 * own functions, or called by one.
 *
 *	main > [12 frames of flask, werkzeug] > handle > json.dumps, mostly in _json
 *
 * An own function is on each path once: its recursive calls are added to its first call.  A
 * library node stands for all code between an own function and the next one inwards; it is named
 * by the library function that was called or, if no own function called it, by the innermost
 * function with most of its time.
 *
 * Many functions called from one place with little time each (tests, handlers, passes) are merged
 * into one node, so that their common callees show below it.  Own code without names is one node
 * per module between the named functions, if there are named ones for most of the time.
 *
 * On the wall clock a wait is a node of its own, with the library function that waits, or without
 * one if that is the C library's:
 *
 *	handle > waits for Lock at app.py:13
 *	handle > HTTPConnection.getresponse [http]: recvfrom(127.0.0.1:5098)
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"
#include "profile/intervals.h"

struct filter;
struct packages;
struct profile;

enum hot_kind {
	HOT_ROOT,
	HOT_OWN,
	HOT_LIBRARY,
	HOT_IMPORT, /* loading of a module that is not own code: the function is its <module> */
	HOT_NAMELESS, /* own code without names: the function is one of it */
	HOT_GROUP,    /* own functions with little time each: the function is one of them */
};

enum { HOT_PASSED_MAX = 2 };

struct hot_node {
	enum hot_kind kind;
	struct function_id function; /* none at the root, and where only the call is known */
	struct function_id wait; /* of a library, on the wall clock: the system call; or none */
	uint32_t parent;
	uint32_t first_child; /* 0: none; children by descending total */
	uint32_t next_sibling;
	/*
	 * Self: of an own function, its own time; of others, the time without that of own code
	 * below.
	 */
	uint64_t self_ns, total_ns;
	/* Of these, waits for child processes that are in the profile as well: child_waits.h. */
	uint64_t self_child_ns, total_child_ns;
	struct intervals intervals;
	/*
	 * Of a library: the package in which most of its self time was spent, and how much of
	 * it.
	 */
	uint32_t burner;
	uint64_t burner_ns;
	/*
	 * Of own code that a library called: how many frames of that, and their main packages.
	 */
	uint32_t passed_frames;
	uint32_t passed[HOT_PASSED_MAX]; /* 0: none */
	/* Of a group: how many functions it has, and the length of their files' common path. */
	uint32_t members, common;
};

struct hot_paths {
	struct hot_node *nodes; /* node 0 is the root; parents come before their children */
	size_t count, capacity;
	bool is_saturated;
};

/*
 * Whether the node is of own functions, with time of their own; else it is of code they called.
 */
static inline bool hot_kind_is_own(enum hot_kind kind)
{
	return kind == HOT_OWN || kind == HOT_GROUP;
}

/* The nearest ancestor node of own functions, or 0. */
uint32_t hot_paths_own_above(const struct hot_paths *paths, uint32_t node);
/* filter may be NULL.  Release with hot_paths_done(). */
void hot_paths_make(const struct profile *profile, const struct packages *packages,
		    const struct filter *filter, struct hot_paths *out);
void hot_paths_done(struct hot_paths *paths);
