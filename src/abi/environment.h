/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * environment - the two entries by which an image is entered, last in its environment:
 *
 *   FATHOM_RECORDER=<default or ignored>[<+ or -><ns>]:<the agent's path>:<the recorder's socket>
 *   LD_PRELOAD=[<the program's own>:][<a sanitizer's runtime>:]<the agent's path>
 *
 * The recorder puts them there for the command, the agent for what the command executes, and
 * the agent takes both out again before any code of the program's.  Of several LD_PRELOAD ld.so
 * heeds the last (elf/rtld.c, process_envvars), so the program's own stays where it was, and
 * need not be put back.
 *
 * The agent is the last library, so that the program's own stand as they do without it: some
 * must be first, and some call what is behind them (decision 0015).
 *
 * The first word is what SIGTRAP does by the program's own will: exec may have been asked to
 * ignore it all the same (docs/decisions/0003-exec-ignores-the-trap.md).  With a number behind
 * it the image says hello when it has burned so much CPU time, and behind "+" what it executes
 * before that does likewise (docs/decisions/0036-what-brief-processes-cost.md).  No agent's path
 * has a colon or a blank, for ld.so takes both as its end.
 */
#pragma once

#define ENVIRONMENT_RECORDER   "FATHOM_RECORDER="
#define ENVIRONMENT_PRELOAD    "LD_PRELOAD="
#define ENVIRONMENT_DEFAULT    "default"
#define ENVIRONMENT_IGNORED    "ignored"
#define ENVIRONMENT_LATE       '+'
#define ENVIRONMENT_LATE_ALONE '-'
/* As many digits as a period of 1 Hz has, and one more. */
#define ENVIRONMENT_LATE_DIGITS 10
/* Both last: that many. */
#define ENVIRONMENT_ENTRIES 2
