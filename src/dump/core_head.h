/*
 * core_head - what a core file says of its process: the signal that ended it, files that lack.
 */
#pragma once

struct core;
struct json_object;
struct text;

/* "SIGSEGV". */
void dump_add_signal_name(int number, struct text *out);
/* "SIGSEGV at address 0x10, which is not mapped"; "none: …" of a process that went on. */
void dump_add_signal(const struct core *core, struct text *out);
/* A line for each thing that makes the dump less than the process was; nothing if all is there. */
void dump_add_missing(struct core *core, struct text *out);
/* file, signal, is_cut, missing_files: docs/dump.md. */
struct json_object *dump_core_object(struct core *core);
