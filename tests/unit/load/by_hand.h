/*
 * by_hand - recordings made by hand, in a folder of their own.
 */
#pragma once
#include <stdint.h>

#include "record/recording.h"

struct recording_writer;

/*
 * A group's fixtures: a new folder for the tests' files, and it is taken away with what is in
 * it.  state is not used.
 */
int by_hand_make_folder(void **state);
int by_hand_remove_folder(void **state);
/* A path in it, that lives until the next call. */
const char *by_hand_path(const char *name);

struct recording_writer *by_hand_create(const char *name);
void by_hand_close(struct recording_writer *writer);

/* One process named "prog" with one thread named "main"; ids 1 and 1. */
void by_hand_add_thread(struct recording_writer *writer);
uint32_t by_hand_add_module(struct recording_writer *writer, enum module_kind kind,
			    const char *path);
/* A stack: address in module on top of parent. */
uint32_t by_hand_add_stack(struct recording_writer *writer, uint32_t parent, uint32_t module,
			   uint64_t address);
void by_hand_add_samples(struct recording_writer *writer, uint32_t stack, int count,
			 int64_t weight_ns);
/* What is at the frame that was added n-th, at a depth. */
void by_hand_name_frame(struct recording_writer *writer, uint32_t frame, uint32_t depth,
			const char *function, uint32_t line);
/* An interpreted function's id; qualified and file may be NULL. */
uint32_t by_hand_add_code(struct recording_writer *writer, uint32_t language, const char *name,
			  const char *qualified, const char *file, uint32_t line);
/* Process 1 has an interpreter in the module. */
void by_hand_add_interpreter(struct recording_writer *writer, uint32_t language,
			     uint32_t module, const char *version, const char *why_not);
