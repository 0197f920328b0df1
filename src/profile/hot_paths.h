/*
 * hot_paths - the call tree of one's own code: what stands between its functions, and what they call
 * in libraries, is one node each.
 *
 *	main > [12 frames of flask, werkzeug] > handle > json.dumps, mostly in _json
 *
 * An own function stands once on each path: what it calls by way of itself is added to its first
 * call.  A node of a library stands for everything between an own function and the next one inwards;
 * it is known by the function of the library that was called, and where no own function called it,
 * by the innermost one that has most of its time.
 *
 * Many functions that are called from one place and have little each (tests, handlers, passes) are
 * one node, so that what they have in common shows below it.  A module's own code without names is
 * one node, between the functions that have one if these are there at most times.
 *
 * On the wall clock what is waited for is a node of its own with the library's function, or without
 * one where that is the C library's:
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
	HOT_IMPORT, /* a module that is not one's own being loaded: the function is its <module> */
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
	/* Self: of an own function, what it did itself; else what was not own code's again. */
	uint64_t self_ns, total_ns;
	struct intervals intervals;
	/* Of a library: in which package most of its self was spent, and how much of it. */
	uint32_t burner;
	uint64_t burner_ns;
	/* Of own code that a library called: how many frames of it, and the packages with most. */
	uint32_t passed_frames;
	uint32_t passed[HOT_PASSED_MAX]; /* 0: none */
	/* Of a group: how many functions it has, and so many bytes of their files' paths are alike. */
	uint32_t members, common;
};

struct hot_paths {
	struct hot_node *nodes; /* node 0 is the root; parents come before their children */
	size_t count, capacity;
	bool is_saturated;
};

/* Whether the node is of own functions, and has a time of its own; else it is what they called. */
static inline bool hot_kind_is_own(enum hot_kind kind)
{
	return kind == HOT_OWN || kind == HOT_GROUP;
}

/* The innermost node of own functions above this one, or 0. */
uint32_t hot_paths_own_above(const struct hot_paths *paths, uint32_t node);
/* filter may be NULL.  Release with hot_paths_done(). */
void hot_paths_make(const struct profile *profile, const struct packages *packages,
		    const struct filter *filter, struct hot_paths *out);
void hot_paths_done(struct hot_paths *paths);
