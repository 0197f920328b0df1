/*
 * keys - the names of the facts in a recording's key/value table.
 *
 * What writes them and what reads them include this, so that a name is spelt once.
 * docs/recording.md describes them in words.  A fact that is not known is not there.
 */
#pragma once

#define KEY_COMMAND       "command"   /* JSON array of strings: argv */
#define KEY_PIDS          "pids"      /* JSON array: without a command, what was attached to */
#define KEY_MODE          "mode"      /* "sample", "trace" */
#define KEY_CLOCK         "clock"     /* "cpu", "user"; of a trace, "wall" or "cpu" */
#define KEY_ONLY          "only"      /* of a trace: JSON array of the patterns */
#define KEY_RATE_HZ       "rate_hz"   /* as asked for */
#define KEY_OVERHEAD      "overhead"  /* in place of that: "1%", what sampling may take */
#define KEY_PERIOD_NS     "period_ns" /* the first process's */
#define KEY_TRIGGER       "trigger"   /* "sigtrap", "timer", "copied" */
#define KEY_TRIGGER_WHY   "trigger_why"   /* a sentence: why this one */
#define KEY_START_UNIX_NS "start_unix_ns" /* when it began, since 1970 */
#define KEY_WALL_NS       "wall_ns" /* from start to the end of the recording, or so far */
/* Of all of the machine's processors together, meanwhile. */
#define KEY_MACHINE_NS       "machine_ns"
#define KEY_MACHINE_IDLE_NS  "machine_idle_ns"
#define KEY_KERNEL_CPU_NS    "kernel_cpu_ns"    /* of the whole tree, by the clock's kind */
#define KEY_SAMPLING_COST_NS "sampling_cost_ns" /* of traps, switches and starts */
#define KEY_TRIGGER_COST_NS  "trigger_cost_ns"  /* one trigger's, measured on the machine */
#define KEY_START_COST_NS    "start_cost_ns" /* one program's start, with its end; if measured */
#define KEY_STARTS           "starts"        /* of processes with the agent, */
#define KEY_STARTS_NS        "starts_ns"     /* and what of sampling_cost_ns these took */
#define KEY_HANDLER_NS       "handler_ns"    /* spent in handlers, all threads */
#define KEY_PAUSED_NS \
	"paused_ns" /* CPU time, of a trace wall time, not wanted by the program */
/* Of a trace with a budget: for how long calls were left out, of the lives of its processes. */
#define KEY_THROTTLED_NS   "throttled_ns"
#define KEY_TRACED_LIFE_NS "traced_life_ns"
#define KEY_FATHOM_VERSION "fathom_version"
#define KEY_HOST           "host"      /* "Linux 6.1.0 x86_64" */
#define KEY_DIRECTORY      "directory" /* where the command was started: an absolute path */
#define KEY_CHILDREN       "children"  /* "1", or "0": the command's own process only */

/*
 * Set by load/ once names stand in the recording: "1"; "names" while modules' lines and inlined
 * calls are still to be read: these modules' ids, with a space between two.
 */
#define KEY_SYMBOLIZED   "symbolized"
#define KEY_UNREAD_LINES "unread_lines"

/* Set by the writer itself when it is closed well: "1". */
#define KEY_FINISHED "finished"
