/* report_options - what a report covers, and its appearance. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/groups.h"

enum report_sort { REPORT_SORT_SELF, REPORT_SORT_TOTAL, REPORT_SORT_CALLS };

struct report_options {
	enum group_by by; /* which rows the table has */
	bool has_by;      /* by was given */
	enum report_sort sort;
	bool has_sort; /* sort was given */
	/* Selects a part of the profile: profile/filter.h. */
	const char *process, *thread, *module, *package, *state;
	bool has_extremes; /* of a trace: the table shows the shortest and longest call */
	bool has_tree;     /* the call tree; each of these four replaces the table */
	const char *callers, *callees; /* of this function, as profile/find.h understands it */
	const char *lines;             /* of this function, in its source */
	bool has_idle;                 /* a row for each idle thread: profile/idle.h */
	bool has_blame;                /* what made threads wait; replaces the table */
	bool has_min_percent; /* min_percent was given; else 0 in tables, 0.5 in trees */
	double min_percent;   /* rows below it are hidden; in trees by total, else as sorted */
	size_t max_rows;      /* 0: 30 in tables, 60 in trees */
	unsigned int width;   /* of the terminal, in columns, to cut long names; 0: unlimited */
	unsigned int height;  /* of the terminal, in rows, to fit a summary; 0: unlimited */
	/* The summary that record prints at its end, where the user knows the command. */
	bool is_after_recording;
	bool has_no_rest;   /* a table does not mention rows that it leaves out */
	bool has_no_starts; /* nor [start-up] and the like, which the head mentions */
	bool has_color;
	bool is_accuracy; /* report_info_text(): only confidence intervals */
	bool is_summary; /* the first screen: summary.h; the fields above then have no effect */
	const char *own; /* defines own code: profile/packages.h */
	bool is_all_own;
	/*
	 * Returns the package that a file belongs to, for the caller to free; NULL: unknown.
	 * May itself be NULL.
	 */
	char *(*package_of)(const char *path);
	const char *path; /* of the recording, for the commands that a summary ends with */
};

#define REPORT_ALL_ROWS SIZE_MAX
