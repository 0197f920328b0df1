/*
 * schema - the tables of a recording, shared by the writer and the reader.
 *
 * docs/recording.md explains them. Every table has an `id INTEGER PRIMARY KEY` before the
 * columns listed here; columns have no types, so SQLite keeps values as given. A batch's id is
 * that of its first sample; all other ids count from 1 without gaps.
 *
 * A new version of the schema adds columns at the end of a table, or tables; the lists below
 * record which, so that older recordings can still be read.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_APPLICATION_ID 0x6674686dU /* "fthm" */
#define RECORDING_SCHEMA_VERSION 8
#define RECORDING_PAGE_SIZE      4096

/* sample_rows.how = state + RECORDING_STATES * ending. */
#define RECORDING_STATES 16

#define RECORDING_TABLE_MAP(X)                                                            \
	X(FACTS, "facts", 2, "key, value")                                                \
	X(PROCESSES, "processes", 11,                                                     \
	  "parent, pid, name, exe, start_ns, end_ns, period_ns, sample_weight_ns, "       \
	  "unentered_reason, exit_status, title")                                         \
	X(THREADS, "threads", 11,                                                         \
	  "process, tid, name, start_ns, end_ns, cpu_ns, startup_ns, exit_ns, "           \
	  "unentered_ns, kernel_unsampled_ns, traced_ns")                                 \
	X(MODULES, "modules", 3, "kind, path, build_id")                                  \
	X(MAPPINGS, "mappings", 7,                                                        \
	  "process, module, start_address, end_address, file_offset, from_ns, to_ns")     \
	X(FRAMES, "frames", 2, "module, address")                                         \
	X(STACKS, "stacks", 2, "parent, frame")                                           \
	X(SAMPLE_ROWS, "sample_rows", 5, "time, thread, stack, weight, how")              \
	X(BATCHES, "batches", 1, "base_ns")                                               \
	X(INTERVALS, "intervals", 4, "first_sample, last_sample, from_ns, to_ns")         \
	X(SUMS, "sums", 6, "interval, thread, stack, state, weight_ns, samples")          \
	X(ENDINGS, "endings", 3, "interval, ending, samples")                             \
	X(SOURCES, "sources", 1, "path")                                                  \
	X(FUNCTIONS, "functions", 5, "language, module, name, source, line")              \
	X(LOCATIONS, "locations", 6, "frame, depth, function, source, line, address")     \
	X(LOST, "lost", 2, "reason, samples")                                             \
	X(NOTES, "notes", 1, "text")                                                      \
	X(FILES, "files", 3, "process, path, data")                                       \
	X(CODES, "codes", 5, "language, name, qualified_name, path, line")                \
	X(INTERPRETERS, "interpreters", 5, "process, module, language, version, why_not") \
	X(CALLS, "calls", 12,                                                             \
	  "thread, stack, calls, self_ns, shortest_ns, longest_ns, kind, misses, "        \
	  "quiet_functions, quiet_builtins, quiet_others, left_out_ns")                   \
	X(COSTS, "costs", 9,                                                              \
	  "process, kind, inside_ps, outside_ps, inside_miss_ps, outside_miss_ps, "       \
	  "spread_ps, stretch_permille, pace_permille")                                   \
	X(OWNERS, "owners", 5, "time_ns, thread, owner, stack, owner_stack")

/* The version that added a table's last columns, and their names. */
#define RECORDING_ADDITION_MAP(X)    \
	X(THREADS, 2, "traced_ns")   \
	X(COSTS, 5, "pace_permille") \
	X(PROCESSES, 6, "title")     \
	X(OWNERS, 8, "stack, owner_stack")
/* The version that added a table. */
#define RECORDING_NEW_TABLE_MAP(X) \
	X(CODES, 3)                \
	X(INTERPRETERS, 3)         \
	X(CALLS, 4)                \
	X(COSTS, 4)                \
	X(OWNERS, 7)

#define RECORDING_TABLE_ENUM(name, table, count, columns) TABLE_##name,
enum recording_table { RECORDING_TABLE_MAP(RECORDING_TABLE_ENUM) TABLE_COUNT };
#undef RECORDING_TABLE_ENUM

const char *schema_table_name(enum recording_table table);
/* Whether recordings of this version have the table. */
bool schema_has_table(enum recording_table table, int version);
/*
 * Whether the table may have 2^32 rows and more: samples, and tables related to them. 64
 * processors make so many samples in 19 hours. No table refers to such rows, except intervals
 * to their samples.
 */
bool schema_has_wide_ids(enum recording_table table);
/* Columns, not counting the id. */
int schema_column_count(enum recording_table table);
/*
 * The CREATE TABLE statement, as sqlite_schema stores it, for a recording of this version of
 * the schema (1 to RECORDING_SCHEMA_VERSION). The caller frees it.
 */
char *schema_create_sql(enum recording_table table, int version);
/* "INSERT INTO … VALUES(?,…)" for the id and all columns, or REPLACE.  The caller frees it. */
char *schema_insert_sql(enum recording_table table, const char *verb);
/*
 * Selects the id and all columns, from id ?1 on, in order of id; columns that this version
 * lacks are NULL. The caller frees it.
 */
char *schema_select_sql(enum recording_table table, int version);
/* A view of the samples, for people and other programs. */
const char *schema_view_sql(void);
