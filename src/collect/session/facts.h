/*
 * session_facts - what a session writes into the recording beside samples: how it was made,
 * what was not entered, what goes away with the process.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct handshake_hello;
struct image;
struct perf_ability;
struct recording_writer;
struct session_options;

/* start_ns is the moment that the recording's times count from. */
void session_facts_write_start(struct recording_writer *writer,
			       const struct session_options *options,
			       const struct perf_ability *ability, uint64_t start_ns);
/* Of those, what takes samples: again when that has turned out to be something else. */
void session_facts_write_sampling(struct recording_writer *writer,
				  const struct session_options *options,
				  const struct perf_ability *ability);
/*
 * Why no agent came, by its file, its root directory and what started it; unanswered: why one that
 * came was not answered, or NULL.  Lives as long as image.
 */
const char *session_facts_why_unentered(struct image *image, const char *unanswered);
/* Names a process that is not in the recording though its agent said hello. */
void session_facts_note_left_out(struct recording_writer *writer,
				 const struct handshake_hello *hello, pid_t pid, bool is_trace,
				 const char *reason);
/* Names a process that wrote what no agent writes into the memory it shares with us. */
void session_facts_note_nonsense(struct recording_writer *writer, const struct image *image);
void session_facts_note_more_nonsense(struct recording_writer *writer, uint64_t count);
/* Names a process that a trace has nothing of, and then how many more there were. */
void session_facts_note_untraced(struct recording_writer *writer, const char *name, pid_t pid,
				 const char *reason);
void session_facts_note_more_untraced(struct recording_writer *writer, uint64_t count);
/* The recording ends before the program. */
void session_facts_note_full(struct recording_writer *writer, uint64_t max_bytes,
			     uint64_t after_ns);
/*
 * What wait(2) reported of the command and those it waited for, and what the tree's counter counted,
 * where that is a good deal less.
 */
void session_facts_note_uncounted(struct recording_writer *writer, uint64_t waited_ns,
				  uint64_t counted_ns);
/* Traps that came before a walk was earned (agent/sample/budget.h). */
void session_facts_note_early_traps(struct recording_writer *writer, uint64_t count);
