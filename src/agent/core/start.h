/*
 * start - the agent's beginning in a process image (start.c).
 */
#pragma once

/* From now on children of fork begin anew, or leave. */
void start_follow_forks(void);
