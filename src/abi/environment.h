/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * environment - the two environment entries that load the agent into the next program, last in
 * its environment:
 *
 *   FATHOM_RECORDER=<default or ignored>[<+ or -><ns>]:<the agent's path>:<the recorder's socket>
 *   LD_PRELOAD=[<the program's own>:][<a sanitizer's runtime>:]<the agent's path>
 *
 * The recorder adds them for the command, the agent for programs that the command executes; the
 * agent removes both before any code of the program runs.  Of several LD_PRELOAD entries ld.so
 * uses the last (elf/rtld.c, process_envvars), so the program's own stays in its place and need
 * not be restored.
 *
 * The agent is the last preloaded library, so that the program's own have the order they have
 * without it: some must be first, and some call the next definition behind them (decision 0015).
 *
 * "default" or "ignored" is what the program itself has set for SIGTRAP: exec may make the kernel
 * ignore it in any case (docs/decisions/0003-exec-ignores-the-trap.md).  If a number follows, the
 * agent contacts the recorder only after so much CPU time; after "+", so do agents in programs
 * that this one executes before (docs/decisions/0036-brief-processes.md).  The agent's
 * path must not contain a colon or a blank, as ld.so takes both as separators.
 */
#pragma once

#define ENVIRONMENT_RECORDER      "FATHOM_RECORDER="
#define ENVIRONMENT_PRELOAD       "LD_PRELOAD="
#define ENVIRONMENT_DEFAULT       "default"
#define ENVIRONMENT_IGNORED       "ignored"
#define ENVIRONMENT_DELAYED       '+'
#define ENVIRONMENT_DELAYED_ALONE '-'
/* The digits of a period at 1 Hz in ns, and one more. */
#define ENVIRONMENT_DELAY_DIGITS 10
/* Number of entries added at the end. */
#define ENVIRONMENT_ENTRIES 2
