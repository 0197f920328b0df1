/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fathom - what a program can say to the profiler that it runs under: regions of its time under
 * names of its own, and when it does not want to be recorded.
 *
 *	#include <fathom.h>
 *
 *	fathom_region_begin("load");
 *	load();
 *	fathom_region_end("load");
 *
 * A report has a row "[region load]" then, inside of the function that began it and outside of
 * what this calls; `fathom report --by region` adds up by regions.  This header is all that is
 * needed: there is no library to link with.  A program that does not run under fathom has a
 * test and a branch for each call.
 *
 * Every function may be called in every thread, and in signal handlers; not in a child of
 * vfork().  Linux with the ELF of GCC or Clang; anywhere else nothing happens.
 */
#ifndef FATHOM_H
#define FATHOM_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && defined(__ELF__)

#define FATHOM_INLINE static inline __attribute__((always_inline, unused))

/*
 * A function of fathom's, or NULL.  By way of the global offset table: where code stands at a
 * fixed address (-no-pie), a weak symbol would be given up for good when the program is linked.
 */
#if defined(__x86_64__) && defined(__LP64__)
#define FATHOM_FIND(name, place)                     \
	__asm__(".weak " #name "\n\t"                \
		"movq " #name "@GOTPCREL(%%rip), %0" \
		: "=r"(place))
#elif defined(__aarch64__) && defined(__LP64__)
#define FATHOM_FIND(name, place)                    \
	__asm__(".weak " #name "\n\t"               \
		"adrp %0, :got:" #name "\n\t"       \
		"ldr %0, [%0, :got_lo12:" #name "]" \
		: "=r"(place))
#else
#define FATHOM_FIND(name, place) ((place) = &name)
void fathom_agent_region_begin(const char *) __attribute__((weak));
void fathom_agent_region_end(const char *) __attribute__((weak));
void fathom_agent_pause(void) __attribute__((weak));
void fathom_agent_resume(void) __attribute__((weak));
int fathom_agent_is_running(void) __attribute__((weak));
#endif

/*
 * Begins a region of the calling thread, in the calling function.  The name is copied: 200
 * bytes of it, in UTF-8.  A few hundred different ones are distinguished.  Regions may be in each
 * other, 32 deep.
 */
FATHOM_INLINE void fathom_region_begin(const char *name)
{
	void (*begin)(const char *);

	FATHOM_FIND(fathom_agent_region_begin, begin);
	if (begin)
		begin(name);
}

/* Ends the calling thread's innermost region of that name; NULL: of any. */
FATHOM_INLINE void fathom_region_end(const char *name)
{
	void (*end)(const char *);

	FATHOM_FIND(fathom_agent_region_end, end);
	if (end)
		end(name);
}

/*
 * Nothing more is recorded of the process, whatever its threads do, until fathom_resume().  How
 * much time that was is in the report.  It does not count: one resume ends any number of them.
 */
FATHOM_INLINE void fathom_pause(void)
{
	void (*pause_all)(void);

	FATHOM_FIND(fathom_agent_pause, pause_all);
	if (pause_all)
		pause_all();
}

FATHOM_INLINE void fathom_resume(void)
{
	void (*resume_all)(void);

	FATHOM_FIND(fathom_agent_resume, resume_all);
	if (resume_all)
		resume_all();
}

/* Whether the process is being recorded, and not paused. */
FATHOM_INLINE int fathom_is_running(void)
{
	int (*is_running)(void);

	FATHOM_FIND(fathom_agent_is_running, is_running);
	return is_running ? is_running() : 0;
}

#else /* no such compiler, or no such system */

static inline void fathom_region_begin(const char *name)
{
	(void)name;
}
static inline void fathom_region_end(const char *name)
{
	(void)name;
}
static inline void fathom_pause(void)
{
}
static inline void fathom_resume(void)
{
}
static inline int fathom_is_running(void)
{
	return 0;
}

#endif

#ifdef __cplusplus
}
#endif
#endif
