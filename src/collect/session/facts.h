/*
 * session_facts - writes into the recording how it was made, and notes on processes that are
 * not in it or not completely.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct handshake_request;
struct image;
struct perf_ability;
struct recording_writer;
struct session_options;

/* start_ns is the moment that the recording's times count from. */
void session_facts_write_start(struct recording_writer *writer,
			       const struct session_options *options,
			       const struct perf_ability *ability, uint64_t start_ns);
/* The part of it on how samples are taken; called again when that has changed. */
void session_facts_write_sampling(struct recording_writer *writer,
				  const struct session_options *options,
				  const struct perf_ability *ability);
/*
 * Why a process has no agent, by its file, its root directory and the program that started it;
 * unanswered: why an agent's handshake was not answered, or NULL.  The result lives as long as
 * image.
 */
const char *session_facts_why_unentered(struct image *image, const char *unanswered);
/* Notes a process that is not in the recording though its agent did its handshake. */
void session_facts_note_left_out(struct recording_writer *writer,
				 const struct handshake_request *request, pid_t pid,
				 bool is_trace, const char *reason);
/*
 * Notes a process that wrote what no agent writes into the memory it shares with us; and how
 * many more.
 */
void session_facts_note_nonsense(struct recording_writer *writer, const struct image *image);
void session_facts_note_more_nonsense(struct recording_writer *writer, uint64_t count);
/* Notes a process that is missing from a trace; and how many more. */
void session_facts_note_untraced(struct recording_writer *writer, const char *name, pid_t pid,
				 const char *reason);
void session_facts_note_more_untraced(struct recording_writer *writer, uint64_t count);
/* Notes that the recording ends before the program. */
void session_facts_note_full(struct recording_writer *writer, uint64_t max_bytes,
			     uint64_t after_ns);
/*
 * Notes the CPU time that wait(2) reported for the command and the children it waited for, if
 * the tree's counter counted much less.
 */
void session_facts_note_uncounted(struct recording_writer *writer, uint64_t waited_ns,
				  uint64_t counted_ns);
/* Notes traps without a walk of the stack, by the budget of walks (agent/sample/budget.h). */
void session_facts_note_early_traps(struct recording_writer *writer, uint64_t count);
