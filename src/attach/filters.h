/*
 * filters - whether a process's seccomp filters allow what attaching and the agent do.
 *
 * The kernel shows filters only to root (CAP_SYS_ADMIN, without a filter of its own), and only
 * those of a stopped thread.  Each thread has its own; almost always they are the same.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct error;
struct filter_step;

/* 0, or -ENOTSUP and a sentence: which call is forbidden, or why that cannot be known. */
int filters_judge(pid_t pid, struct error *err);
/* The same for filters that were read; machine: AUDIT_ARCH_…. */
struct filters {
	struct filter {
		struct filter_step *steps;
		uint32_t count;
	} * all;
	size_t count;
};
int filters_allow(const struct filters *filters, uint32_t machine, struct error *err);
