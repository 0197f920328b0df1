#include "collect/calls/notes.h"

#include <inttypes.h>
#include <string.h>

#include "abi/trace.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/processes/trust.h"
#include "record/writer.h"
#include "target/elf_file.h"

static void write_note(const struct image *image, struct recording_writer *writer,
		       const char *sentence)
{
	struct text note = { 0 };

	text_add_printable(&note, image->name, strnlen(image->name, sizeof image->name));
	text_addf(&note, " (pid %d): %s", (int)image->pid, sentence);
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}

static bool is_set(const u64 *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

/* Each thing that is counted takes at least a nanosecond. */
static uint64_t count_of(struct image *image, const u64 *count)
{
	return trust_bound_count(image, __atomic_load_n(count, __ATOMIC_RELAXED), 1);
}

static void note_count(const struct image *image, struct recording_writer *writer,
		       uint64_t count, const char *sentence)
{
	CLEANUP(freep) char *text = xasprintf("%" PRIu64 " %s", count, sentence);

	if (count != 0)
		write_note(image, writer, text);
}

static void note_off(const struct image *image, struct recording_writer *writer)
{
	CLEANUP(freep)
	char *text = xasprintf("the program switched tracing off for %.3f s: what it did then "
			       "is not recorded",
			       (double)image->off_ns / 1e9);

	if (image->off_ns != 0)
		write_note(image, writer, text);
}

/* Notes why reading the threads' CPU clocks takes a system call, if it does. */
static void note_cpu_clock(const struct image *image, struct recording_writer *writer,
			   uint32_t clock)
{
	static const char *const sentences[] = {
#define X(name, sentence) [TRACE_CPU_CLOCK_##name] = sentence,
		TRACE_CPU_CLOCK_MAP(X)
#undef X
	};

	if (clock == TRACE_CPU_CLOCK_SHORT || clock >= TRACE_CPU_CLOCK_COUNT)
		return;
	CLEANUP(freep)
	char *text = xasprintf("each event costs a system call (about 0.3 us), by which the "
			       "CPU clock is read: %s",
			       sentences[clock]);

	write_note(image, writer, text);
}

/*
 * Notes that this build of CPython has no better hook.  With --only, sys.monitoring is used in
 * other builds, too.
 */
static void note_means(const struct image *image, struct recording_writer *writer,
		       uint32_t means, bool has_only)
{
	if (means == TRACE_MEANS_EVENTS && !has_only)
		write_note(image, writer,
			   "this build of CPython is traced by sys.monitoring: tracing a call "
			   "costs "
			   "more than in other builds");
	if (means != TRACE_MEANS_PROFILE)
		return;
	write_note(
		image, writer,
		"this build of CPython takes longer for each bytecode while it is traced, also "
		"where "
		"nothing is called: loops seem to take up to 1.8 times their time");
}

/* With -fpatchable-function-entry compilers leave room for hooks, but call none. */
static void note_patchable(const struct image *image, struct recording_writer *writer)
{
	struct error err = { 0 };
	struct elf_file elf;

	if (image->languages != 0 || image->exe == NULL ||
	    elf_file_open(image->exe, &elf, &err) < 0)
		return;
	if (elf_file_has_section(&elf, "__patchable_function_entries"))
		write_note(image, writer,
			   "functions built with -fpatchable-function-entry are not traced: "
			   "build it "
			   "with -pg -mfentry or with -finstrument-functions");
	elf_file_close(&elf);
}

void trace_notes_add(struct image *image, const struct trace_area *area,
		     struct recording_writer *writer)
{
	static const char *const sentences[] = {
#define X(name, sentence) [TRACE_##name] = sentence,
		TRACE_STATUS_MAP(X)
#undef X
	};
	const uint32_t status = __atomic_load_n(&area->status, __ATOMIC_RELAXED);
	const uint32_t means = __atomic_load_n(&area->means, __ATOMIC_RELAXED);
	const bool has_only = __atomic_load_n(&area->only[0], __ATOMIC_RELAXED) != '\0';

	if (image->languages != 0 && status < TRACE_STATUS_COUNT && status != TRACE_ON) {
		CLEANUP(freep) char *text = xasprintf("not traced: %s", sentences[status]);

		write_note(image, writer, text);
	}
	note_means(image, writer, means, has_only);
	note_off(image, writer);
	note_count(image, writer, count_of(image, &area->lost_calls),
		   "calls are not counted: there was no room for more different stacks "
		   "('fathom trace --only' counts fewer functions)");
	note_count(image, writer, count_of(image, &area->endless_calls),
		   "calls are counted, but seem to last until their thread's next event: the "
		   "processor guards return addresses (CET), the address range for the shadow "
		   "stack is occupied, or a library copies stacks");
	note_patchable(image, writer);
	note_count(image, writer, count_of(image, &area->untraced_threads),
		   "threads were not traced: there were too many at one time, or a seccomp "
		   "filter forbade the system calls that tracing needs");
	note_count(image, writer, count_of(image, &area->foreign_threads),
		   "threads use restartable sequences themselves: each of their events costs a "
		   "system call, by which the CPU clock is read");
	note_cpu_clock(image, writer, __atomic_load_n(&area->cpu_clock, __ATOMIC_RELAXED));
	if (is_set(&area->is_frozen))
		write_note(image, writer,
			   "it has forbidden itself to read the processor's clock (seccomp's "
			   "strict "
			   "mode, or PR_SET_TSC): calls that it made then are counted, without "
			   "time");
	if (is_set(&area->has_jit))
		write_note(image, writer,
			   "Ruby's compiler (YJIT) is on: traced code mostly runs interpreted, "
			   "not "
			   "compiled, and takes longer for that");
	note_count(image, writer, count_of(image, &area->left_writable),
		   "tables of its interpreter stay writable: the kernel did not let them be "
		   "protected again after hooks were written");
	if (is_set(&area->other_tools))
		write_note(
			image, writer,
			"it has a profiler of its own (sys.setprofile(), cProfile, viztracer, "
			"yappi), which takes the place of ours: calls that its thread makes "
			"while that is set are not counted");
}

void trace_notes_nameless(const struct image *image, uint64_t count,
			  struct recording_writer *writer)
{
	note_count(image, writer, count,
		   "callees have no names, since there was no room to send them: they are "
		   "counted as unknown functions");
}
