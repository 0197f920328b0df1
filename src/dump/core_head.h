/*
 * core_head - the head of a core file's dump: the signal that ended the process, and missing
 * files.
 */
#pragma once

struct core;
struct json_object;
struct text;

/* Adds "SIGSEGV". */
void dump_add_signal_name(int number, struct text *out);
/* Adds "SIGSEGV at address 0x10, which is not mapped"; "none: …" if the process went on. */
void dump_add_signal(const struct core *core, struct text *out);
/* Adds a line for each thing that the dump lacks; nothing if it is complete. */
void dump_add_missing(struct core *core, struct text *out);
/* An object with file, signal, is_cut, missing_files: docs/dump.md. */
struct json_object *dump_core_object(struct core *core);
