/*
 * keys - the names of the facts in a recording's key/value table.
 *
 * Included by writers and readers, so that each name is spelt once. docs/recording.md describes
 * the facts. An unknown fact has no row.
 */
#pragma once

#define KEY_COMMAND "command" /* JSON array of strings: argv */
#define KEY_PIDS    "pids"    /* JSON array: without a command, the processes attached to */
#define KEY_MODE    "mode"    /* "sample", "trace" */
#define KEY_CLOCK   "clock"   /* "cpu", "user"; of a trace, "wall" or "cpu" */
#define KEY_ONLY    "only"    /* of a trace: JSON array of the patterns */
#define KEY_RATE_HZ "rate_hz" /* as asked for */
/* Instead of a rate: "1%", the share of time sampling may take. */
#define KEY_OVERHEAD      "overhead"
#define KEY_PERIOD_NS     "period_ns"     /* the first process's */
#define KEY_TRIGGER       "trigger"       /* "sigtrap", "timer", "copied" */
#define KEY_TRIGGER_WHY   "trigger_why"   /* a sentence: why this one */
#define KEY_START_UNIX_NS "start_unix_ns" /* when it began, since 1970 */
#define KEY_WALL_NS       "wall_ns" /* from start to the end of the recording, or so far */
/* CPU time of all the machine's processors together, during the recording. */
#define KEY_MACHINE_NS       "machine_ns"
#define KEY_MACHINE_IDLE_NS  "machine_idle_ns"
#define KEY_KERNEL_CPU_NS    "kernel_cpu_ns"    /* of the whole tree, by the clock's kind */
#define KEY_SAMPLING_COST_NS "sampling_cost_ns" /* of traps, switches and starts */
#define KEY_TRIGGER_COST_NS  "trigger_cost_ns"  /* one trigger's, measured on the machine */
#define KEY_START_COST_NS    "start_cost_ns"    /* one program's start and end; if measured */
#define KEY_STARTS           "starts"           /* of processes with the agent */
#define KEY_STARTS_NS        "starts_ns"        /* their part of sampling_cost_ns */
#define KEY_HANDLER_NS       "handler_ns"       /* spent in handlers, all threads */
#define KEY_PAUSED_NS \
	"paused_ns" /* CPU time, of a trace wall time, not wanted by the program */
/* Of a trace with a budget: how long its processes left calls out, and their total lifetime. */
#define KEY_THROTTLED_NS   "throttled_ns"
#define KEY_TRACED_LIFE_NS "traced_life_ns"
#define KEY_FATHOM_VERSION "fathom_version"
#define KEY_HOST           "host"      /* "Linux 6.1.0 x86_64" */
#define KEY_DIRECTORY      "directory" /* where the command was started: an absolute path */
#define KEY_CHILDREN       "children"  /* "1", or "0": the command's own process only */

/*
 * Set by load/ once the recording has names: "1"; or "names" while modules' lines and inlined
 * calls are still to be read: their ids are in unread_lines, separated by spaces.
 */
#define KEY_SYMBOLIZED   "symbolized"
#define KEY_UNREAD_LINES "unread_lines"

/* Set by the writer on a clean close: "1". */
#define KEY_FINISHED "finished"
